package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// helpGroups are the flags in the order in which somebody needs them.
var helpGroups = []struct {
	title string
	flags []string
}{
	{"What runs", []string{"brokers", "topics", "demo", "set"}},
	{"Where it listens", []string{"kafka", "advertise", "http", "remote"}},
	{"What is kept", []string{"data", "flush", "record", "record-size", "record-age"}},
	{"A cluster of your own, instead of brokers here", []string{"attach", "attach-config", "attach-logs", "attach-read"}},
	{"Who may connect, and who may listen in", []string{"users", "tls-cert", "tls-key", "tls-client-ca", "http-tls"}},
	{"What it says, and to whom", []string{"log", "log-level", "alert-url", "alert-after", "metrics-groups", "feedback"}},
}

const helpHead = `usage: server [flags]
       server site [-feedback ADDRESS] DIR      writes the lessons as static files into DIR

Runs Kafka brokers for learning and for trying clients, and a page that shows their consumer groups live.
Point any Kafka client at the first line that is printed, and a browser at the second.

  server -topics orders=6 -demo 2                        a topic, two consumers and a producer to look at
  server -set group.initial.rebalance.delay.ms=0         no waiting at the first join
  server -data ./lab                                     everything is there again after a restart
  server -users users.txt -tls-cert c.pem -tls-key k.pem clients connect with SASL_SSL
  server -kafka 0.0.0.0:9092 -advertise lab.example:9092 -remote -users users.txt
                                                         for other machines, behind a name
  server -attach broker1.example:9092                    shows the groups of that cluster; changes nothing there
`

const helpTail = `
Signals: SIGINT and SIGTERM stop it: listeners and connections are closed, what is to be kept is written.
         A second one ends the process at once.
Exit codes: 0 it was stopped and everything is written; 1 it could not start, or failed; 2 the flags, or files that they name,
            are not right.
`

// teach writes the help: what it is for, examples, then each flag in its group.
func teach(out io.Writer, flags *flag.FlagSet) {
	fmt.Fprint(out, helpHead)
	for _, group := range helpGroups {
		fmt.Fprintf(out, "\n%s\n", group.title)
		for _, name := range group.flags {
			f := flags.Lookup(name)
			value, usage := flag.UnquoteUsage(f)
			usage = strings.TrimPrefix(usage, value+": ")
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
				usage += " (default " + f.DefValue + ")"
			}
			fmt.Fprintf(out, "  %s\n      %s\n", strings.TrimSpace("-"+name+" "+value), strings.ReplaceAll(usage, "\n", "\n      "))
		}
	}
	fmt.Fprint(out, helpTail)
}
