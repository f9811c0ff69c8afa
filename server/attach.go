package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"grouplab/server/app"
)

// defineAttach makes the flags that are about somebody else's cluster.
func (o *options) defineAttach(flags *flag.FlagSet) {
	flags.StringVar(&o.attach, "attach", "", "`HOST:PORT,…`: Shows the groups of the cluster that these brokers belong to, and starts none here. It only reads.")
	flags.StringVar(&o.config, "attach-config", "", "`FILE`: How to connect, in a .properties file as Kafka's own clients take it: bootstrap.servers, security.protocol, sasl.…,\n"+
		"ssl.… (PEM). It holds the secrets; they are shown nowhere.")
	flags.Func("attach-logs", "`FILE,…`: Logs of its brokers (server.log) to follow, for the reasons that only they name; may be repeated.", func(text string) error {
		for _, path := range strings.Split(text, ",") {
			if path = strings.TrimSpace(path); path != "" {
				o.logs = append(o.logs, path)
			}
		}
		return nil
	})
	flags.Func("attach-read", "`MB`: How much of __consumer_offsets is read from its beginning at most; of more, only the newest part is read, and each\ngroup's state is asked for. (default 2048)", func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 || n > 1<<30 {
			return errors.New("it takes a number of megabytes from 1 on")
		}
		o.readMB = n
		return nil
	})
}

// readAttach turns these flags into what the server is told.
func (o *options) readAttach(flags *flag.FlagSet) (err error) {
	if o.attach == "" && o.config == "" {
		if len(o.logs) > 0 || o.readMB > 0 {
			return errors.New("-attach-logs and -attach-read say how a cluster is watched, which takes -attach HOST:PORT or -attach-config FILE")
		}
		return nil
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Name == "kafka" || f.Name == "brokers" {
			err = fmt.Errorf("-attach starts no broker, and -%s is about brokers of our own; leave one of them out", f.Name)
		}
	})
	if err != nil {
		return err
	}
	if o.cfg.Attach, err = app.ParseAttach(o.attach, o.config); err != nil {
		return err
	}
	o.cfg.Attach.ReadBytes, o.cfg.Attach.Logs = o.readMB<<20, o.logs
	return nil
}
