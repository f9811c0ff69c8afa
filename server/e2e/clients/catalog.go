package main

// client is one row of the table.
type client struct {
	name string
	// prepare installs what is missing and returns the program's command and what its environment has beside ours.
	prepare func(dir string) (command, env []string, err error)
	// alone, if set, is run in place of the scenario and answers with one line.
	alone func(s *scene) (string, error)

	command, env []string
}

// clients are all of them, in the table's order.
var clients = []client{
	{name: "java-4", prepare: java("4.0.2")},
	{name: "java-3.9", prepare: java("3.9.1")},
}

// unavailable names the clients that cannot be had, each with its reason; a client that is missing and not named here
// makes the run fail.
var unavailable = map[string]string{}
