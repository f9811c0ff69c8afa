// Command server runs the lab: brokers that speak the Kafka protocol, and the page that shows them.
//
//	go run ./server                  three brokers on 127.0.0.1:9092 to 9094, the page on 127.0.0.1:8080
//	go run ./server site DIR         the lessons as static files, for any file host
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"grouplab/server/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program, without the process around it. It returns the exit code: 2 for flags that cannot be read, 1 for
// what cannot be done.
func run(ctx context.Context, args []string, out, complaints io.Writer) int {
	if len(args) > 0 && args[0] == "site" {
		return site(args[1:], out, complaints)
	}
	cfg, err := parseFlags(args, out, complaints)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	signal.Ignore(syscall.SIGXFSZ) // a file that may not grow is a disk that fails, which clients are told
	logger := log.New(complaints, "", log.LstdFlags)
	cfg.Logf = logger.Printf
	app.TuneGC()
	s, err := app.New(cfg)
	if err != nil {
		fmt.Fprintln(complaints, err)
		return 1
	}
	for _, exposed := range s.Exposed() {
		fmt.Fprintf(complaints, "warning: %s can be reached by other machines, and the lab asks nobody who they are\n", exposed)
	}
	fmt.Fprintf(out, "kafka: %s\nlab: http://%s\ntoken: %s\n", strings.Join(s.KafkaAddrs(), ","), s.HTTPAddr(), s.Token())
	if err := s.Run(ctx); err != nil {
		fmt.Fprintln(complaints, err)
		return 1
	}
	return 0
}

const flushHelp = "`WHEN` records reach the disk itself, with -data (default never). Whatever it says, what was acknowledged\n" +
	"outlives the end of the process, kill -9 too; it is about the machine's power:\n" +
	"never     the operating system decides, as Kafka does by default: some seconds may be lost\n" +
	"interval  once a second: about the last second may be lost\n" +
	"always    before anything is acknowledged, one write for all requests that came together: nothing is lost"

func parseFlags(args []string, out, complaints io.Writer) (cfg app.Config, err error) {
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.SetOutput(complaints)
	flags.Usage = func() {
		fmt.Fprintf(complaints, "usage: server [flags]\n       server site DIR\n\n")
		flags.PrintDefaults()
	}
	flags.StringVar(&cfg.HTTP, "http", "127.0.0.1:8080", "`HOST:PORT` of the lab's page; port 0 takes a free one")
	flags.StringVar(&cfg.Kafka, "kafka", "127.0.0.1:9092", "`HOST:PORT` of broker 1; broker i listens i-1 ports higher, and clients are told this host; port 0 takes free ones")
	flags.StringVar(&cfg.Advertise, "advertise", "", "`HOST:PORT` that clients are told of broker 1, where it is not the one of -kafka (a proxy, a container); broker i is told i-1 ports higher, port 0 stands for the broker's own")
	flags.Func("brokers", "`N` brokers, 1 to 16 (default 3)", func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 16 {
			return errors.New("it takes a number from 1 to 16")
		}
		cfg.Brokers = int32(n)
		return nil
	})
	flags.Func("topics", "`NAME=PARTITIONS,…` of topics that exist from the start, as in orders=6", func(text string) error {
		topics, err := parseTopics(text)
		cfg.Topics = append(cfg.Topics, topics...)
		return err
	})
	help := false
	flags.Func("set", "`NAME=VALUE` of one of Kafka's configuration names; may be repeated; \"help\" lists them", func(text string) error {
		help = help || text == "help"
		cfg.Set = append(cfg.Set, text)
		return nil
	})
	flags.Func("users", "`FILE` with a NAME:PASSWORD on each line: who may connect to the brokers, with SASL PLAIN or SCRAM", func(path string) (err error) {
		cfg.Users, err = readUsers(path)
		return err
	})
	flags.StringVar(&cfg.Data, "data", "", "`DIR` that keeps topics, records, groups and offsets over restarts, in Kafka's format; without it all is in memory")
	flags.Func("flush", flushHelp, func(text string) (err error) {
		cfg.Flush, err = app.ParseFlush(text)
		return err
	})
	flags.IntVar(&cfg.Demo, "demo", 0, "`N` demo consumers and a producer that run from the start")
	flags.BoolVar(&cfg.Remote, "remote", false, "allow addresses that other machines can reach; the lab has no users and no encryption")
	if err := flags.Parse(args); err != nil {
		return cfg, err
	}
	if flags.NArg() > 0 {
		err := fmt.Errorf("%q is no flag and no command; there is one command, site DIR", flags.Arg(0))
		fmt.Fprintln(complaints, err)
		return cfg, err
	}
	if cfg.Flush != "" && cfg.Data == "" {
		err := errors.New("-flush: there is nothing to write without -data DIR")
		fmt.Fprintln(complaints, err)
		return cfg, err
	}
	if help {
		listSettings(out)
		return cfg, flag.ErrHelp
	}
	if cfg.Brokers == 0 {
		cfg.Brokers = 3
	}
	return cfg, nil
}

func parseTopics(text string) (topics []app.Topic, err error) {
	for _, pair := range strings.Split(text, ",") {
		name, number, _ := strings.Cut(pair, "=")
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil || n < 1 || name == "" {
			return nil, fmt.Errorf("%q is no NAME=PARTITIONS, as in orders=6", pair)
		}
		topics = append(topics, app.Topic{Name: name, Partitions: int32(n)})
	}
	return topics, nil
}

// readUsers reads who may connect. Empty lines, and those that begin with #, are passed over.
func readUsers(path string) (users []app.User, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, password, found := strings.Cut(line, ":")
		if !found || name == "" || password == "" {
			return nil, fmt.Errorf("line %d is no NAME:PASSWORD", i+1)
		}
		users = append(users, app.User{Name: name, Password: password})
	}
	if len(users) == 0 {
		return nil, errors.New("it names nobody")
	}
	return users, nil
}

func listSettings(out io.Writer) {
	for _, s := range app.Settings() {
		fmt.Fprintf(out, "%-36s %s (default %s)\n", s.Name, s.Values, s.Default)
	}
}
