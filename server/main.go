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
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"grouplab/server/app"
)

// Exit codes, which -help tells.
const (
	exitClean   = 0
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal does what signals do by themselves: it ends the process
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// stopBound is how long a stop may take until it counts as failed.
const stopBound = 30 * time.Second

// run is the program, without the process around it. It returns the exit code.
func run(ctx context.Context, args []string, out, complaints io.Writer) int {
	if len(args) > 0 && args[0] == "site" {
		return site(args[1:], out, complaints)
	}
	o, err := parseFlags(args, out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitClean
	case err != nil:
		fmt.Fprintln(complaints, err)
		return exitUsage
	}
	signal.Ignore(syscall.SIGXFSZ) // a file that may not grow is a disk that fails, which clients are told
	app.TuneGC()
	o.cfg.Log = o.logger(complaints)
	s, err := begin(ctx, o.cfg)
	switch {
	case err != nil && ctx.Err() != nil:
		o.cfg.Log.Info(fmt.Sprintf("stopped before the start was over: %v", context.Cause(ctx)))
		return exitClean
	case err != nil:
		o.fail(complaints, err)
		if app.IsUsage(err) {
			return exitUsage
		}
		return exitFailure
	}
	announce(out, o.cfg.Log, s)
	return serve(ctx, o, s, complaints)
}

// begin is app.New, which lasts where much is to be loaded: a signal ends it.
func begin(ctx context.Context, cfg app.Config) (*app.Server, error) {
	type made struct {
		s   *app.Server
		err error
	}
	result := make(chan made, 1)
	go func() {
		s, err := app.New(cfg)
		result <- made{s, err}
	}()
	select {
	case m := <-result:
		return m.s, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// announce says where the server is: for people and scripts on the standard output, for the log with what else is to be known.
func announce(out io.Writer, log *slog.Logger, s *app.Server) {
	if to := s.AttachedTo(); to != "" {
		fmt.Fprintf(out, "attached: %s\nlab: %s\n", to, s.URL())
		log.Info("watches "+to+", and changes nothing there", "lab", s.URL())
		warn(log, s)
		return
	}
	fmt.Fprintf(out, "kafka: %s\n", strings.Join(s.KafkaAddrs(), ","))
	if s.URL() != "" {
		fmt.Fprintf(out, "lab: %s\ntoken: %s\n", s.URL(), s.Token())
	}
	log.Info("the brokers listen on "+strings.Join(s.KafkaAddrs(), ","), "kafka", s.KafkaAddrs(), "lab", s.URL(), "security.protocol", s.Protocol())
	warn(log, s)
}

func warn(log *slog.Logger, s *app.Server) {
	for _, warning := range s.Warnings() {
		log.Warn("warning: " + warning)
	}
}

// serve runs the server until it fails or is told to stop.
func serve(ctx context.Context, o *options, s *app.Server, complaints io.Writer) int {
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		o.cfg.Log.Info(fmt.Sprintf("stopping (%v); a second signal ends the process at once", context.Cause(ctx)))
		select {
		case err = <-ended:
		case <-time.After(stopBound):
			err = fmt.Errorf("the stop was not done after %v", stopBound)
		}
	}
	if err != nil {
		o.fail(complaints, err)
		return exitFailure
	}
	o.cfg.Log.Info("stopped")
	return exitClean
}
