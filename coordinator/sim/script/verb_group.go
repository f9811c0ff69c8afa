package script

func groupVerb() verb {
	return verb{
		name:    "group",
		usage:   "group GROUP",
		help:    "the group of the consumers and conditions that follow",
		example: "group orders-svc",
		params:  []param{groupParam},
		quiet:   true,
		do: func(e *Engine, c Command) error {
			e.group = c.Args[0].Text
			return nil
		},
	}
}
