package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"grouplab/server/app"
)

// options are what the flags say.
type options struct {
	cfg app.Config
	// attach is -attach, where it is given; config, logs and readMB are the flags beside it.
	attach, config string
	logs           []string
	readMB         int64
	json           bool
	level          slog.Level
}

// logger writes to the standard error. Nothing secret reaches it: neither passwords nor the token.
func (o *options) logger(to io.Writer) *slog.Logger {
	how := &slog.HandlerOptions{Level: o.level}
	if o.json {
		return slog.New(slog.NewJSONHandler(to, how))
	}
	return slog.New(slog.NewTextHandler(to, how))
}

// fail says why the program ends: to people as it is, in a log of JSON as a line of it.
func (o *options) fail(to io.Writer, err error) {
	if o.json {
		o.cfg.Log.Error(err.Error())
		return
	}
	fmt.Fprintln(to, err)
}

const flushHelp = "`WHEN`: When records reach the disk itself, with -data. Whatever it says, what was acknowledged outlives the end of the\n" +
	"process, kill -9 too; it is about the machine's power:\n" +
	"never     the operating system decides, as Kafka does by default: some seconds may be lost\n" +
	"interval  once a second: about the last second may be lost\n" +
	"always    before anything is acknowledged, one write for all requests that came together: nothing is lost\n(default never)"

// define makes the flags, which write into o. help is set by -set help.
func define(o *options, help *bool) *flag.FlagSet {
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // we say what is wrong ourselves
	cfg := &o.cfg
	flags.StringVar(&cfg.Kafka, "kafka", "127.0.0.1:9092", "`HOST:PORT`: Where broker 1 listens, and what clients are told; broker i listens i-1 ports higher, port 0 takes free ones.")
	flags.StringVar(&cfg.Advertise, "advertise", "", "`HOST:PORT`: What clients are told of broker 1, where that is not -kafka (a proxy, a container); broker i is told i-1 ports\nhigher, port 0 stands for the broker's own.")
	flags.StringVar(&cfg.HTTP, "http", "127.0.0.1:8080", "`HOST:PORT`: Where the lab's page is; port 0 takes a free one, \"\" serves none.")
	cfg.Brokers = 3
	flags.Func("brokers", "`N`: How many brokers run in this process, 1 to 16. (default 3)", func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 16 {
			return errors.New("it takes a number from 1 to 16")
		}
		cfg.Brokers = int32(n)
		return nil
	})
	flags.Func("topics", "`NAME=PARTITIONS,…`: Topics that exist from the start, as in orders=6,payments=2; may be repeated.", func(text string) error {
		topics, err := parseTopics(text)
		cfg.Topics = append(cfg.Topics, topics...)
		return err
	})
	flags.Func("set", "`NAME=VALUE`: One of Kafka's broker settings, by Kafka's name, which has the unit (…ms, …bytes); may be repeated;\n\"-set help\" lists all with their bounds and defaults.", func(text string) error {
		*help = *help || text == "help"
		cfg.Set = append(cfg.Set, text)
		return nil
	})
	flags.IntVar(&cfg.Demo, "demo", 0, "`N`: How many demo consumers run from the start, 0 to 16, and a producer with them. (default 0)")
	flags.StringVar(&cfg.Data, "data", "", "`DIR`: The folder that keeps topics, records, groups and offsets over restarts, in Kafka's format; without it all is in memory.")
	flags.Func("flush", flushHelp, func(text string) (err error) {
		cfg.Flush, err = app.ParseFlush(text)
		return err
	})
	flags.Func("feedback", "`ADDRESS`: Whom the pages' \"Tell us\" writes to: a mail address, or an https address whose last parameter takes the text, as in\nhttps://example.org/lab/issues/new?body=. Without it a letter is opened that names nobody.", func(text string) (err error) {
		cfg.Feedback, err = app.ParseFeedback(text)
		return err
	})
	o.defineAttach(flags)
	o.defineRecord(flags)
	flags.BoolVar(&cfg.Remote, "remote", false, "Allows addresses that other machines can reach; a warning says what they can do then.")
	flags.Func("users", "`FILE`: Who may connect to the brokers, a NAME:PASSWORD on each line, with SASL PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.", func(path string) (err error) {
		cfg.Users, err = readUsers(path)
		return err
	})
	flags.StringVar(&cfg.Alert.URL, "alert-url", "", "`URL`: Who is told, with a POST of JSON, when a group has not served for -alert-after, and when it serves again. It is tried a few\ntimes, never followed elsewhere, and never written to the log.")
	flags.DurationVar(&cfg.Alert.After, "alert-after", time.Minute, "`DURATION`: How long a group rebalances, or has no coordinator, until -alert-url is told, as in 90s or 5m.")
	flags.Func("metrics-groups", "`PATTERN,…`: Groups that have figures of their own at /metrics, as in orders-*,payments: the first 100 by name. Without it no group's\nname is a label there.", func(text string) error {
		cfg.MetricsGroups = append(cfg.MetricsGroups, strings.Split(text, ",")...)
		return nil
	})
	flags.StringVar(&cfg.TLSCert, "tls-cert", "", "`FILE`: The brokers' certificate, in PEM; it encrypts the Kafka listeners (TLS 1.2, 1.3) and is read again when it changes.")
	flags.StringVar(&cfg.TLSKey, "tls-key", "", "`FILE`: The private key of -tls-cert, in PEM.")
	flags.StringVar(&cfg.TLSClientCA, "tls-client-ca", "", "`FILE`: The authority, in PEM, whose certificates clients have to show.")
	flags.BoolVar(&cfg.HTTPTLS, "http-tls", false, "Encrypts the lab's page, too, with the same certificate.")
	flags.Func("log", "`FORMAT`: How the log on the standard error is written, text or json. (default text)", func(text string) error {
		if text != "text" && text != "json" {
			return fmt.Errorf("it takes text or json, not %q", text)
		}
		o.json = text == "json"
		return nil
	})
	flags.Func("log-level", "`LEVEL`: The least important lines that are written: debug, info, warn or error. (default info)", func(text string) error {
		level, ok := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}[text]
		if !ok {
			return fmt.Errorf("it takes debug, info, warn or error, not %q", text)
		}
		o.level = level
		return nil
	})
	return flags
}

// parseFlags reads the arguments. What is asked for by -help and -set help is written to out; the error is then flag.ErrHelp.
func parseFlags(args []string, out io.Writer) (*options, error) {
	o, help := &options{}, false
	flags := define(o, &help)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		teach(out, flags)
		return o, err
	case err != nil:
		return o, explain(err, flags)
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is no flag and no command; there is one command, site DIR, and -help explains the flags", flags.Arg(0))
	case help:
		listSettings(out)
		return o, flag.ErrHelp
	case o.cfg.Flush != "" && o.cfg.Data == "":
		return o, errors.New("-flush: there is nothing to write without -data DIR")
	}
	return o, errors.Join(o.checkRecord(), o.readAttach(flags))
}

// explain adds to an error of package flag what would be right.
func explain(err error, flags *flag.FlagSet) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return fmt.Errorf("%w (server -help explains the flags)", err)
	}
	var names []string
	flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if strings.Contains(name, ".") { // a setting of Kafka's
		return fmt.Errorf("there is no flag -%s; Kafka's settings are given as -set %s=VALUE", name, name)
	}
	return fmt.Errorf("there is no flag -%s; the nearest is -%s (server -help explains all)", name, app.Nearest(name, names))
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
