package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// defineRecord makes the flags of the recorder.
func (o *options) defineRecord(flags *flag.FlagSet) {
	flags.StringVar(&o.cfg.Record.Dir, "record", "", "`DIR`: The folder in which what happens is recorded, to go back to it at /recordings; without it nothing is.")
	flags.Func("record-size", "`SIZE`: How much -record keeps at most, as in 64MB or 2GB; the oldest goes first. (default 256MB)", func(text string) (err error) {
		o.cfg.Record.Bytes, err = parseSize(text)
		return err
	})
	flags.Func("record-age", "`DURATION`: How long -record keeps it, as in 90m or 24h. (default 24h)", func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Minute {
			return errors.New("it takes a duration from 1m on, as in 90m or 24h")
		}
		o.cfg.Record.Age = d
		return nil
	})
}

// checkRecord tells whether the flags fit together.
func (o *options) checkRecord() error {
	r := o.cfg.Record
	if r.Dir == "" && (r.Bytes > 0 || r.Age > 0) {
		return errors.New("-record-size and -record-age say how much is recorded, which takes -record DIR")
	}
	return nil
}

// parseSize reads a number of bytes with its unit.
func parseSize(text string) (int64, error) {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		number, found := strings.CutSuffix(strings.ToUpper(text), u.name)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || n > 1<<40/u.bytes || n*u.bytes < 1<<20 {
			break
		}
		return n * u.bytes, nil
	}
	return 0, fmt.Errorf("it takes a size from 1MB on, as in 64MB or 2GB, not %q", text)
}
