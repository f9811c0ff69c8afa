package app

import (
	"context"
	"fmt"
	"log/slog"
)

// lines gives the lines of a log to a function, as sentences without their attributes: the sentence says all that they say.
type lines struct {
	logf func(format string, args ...any)
}

func (l lines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (l lines) Handle(_ context.Context, r slog.Record) error {
	l.logf("%s", r.Message)
	return nil
}

func (l lines) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l lines) WithGroup(string) slog.Handler      { return l }

// logs makes Log and Logf one: what knows only sentences writes them as warnings. Called again it changes nothing.
func (cfg *Config) logs() {
	switch {
	case cfg.Log == nil && cfg.Logf == nil:
		cfg.Log = slog.New(slog.DiscardHandler)
	case cfg.Log == nil:
		cfg.Log = slog.New(lines{cfg.Logf})
	}
	log := cfg.Log
	cfg.Logf = func(format string, args ...any) { log.Warn(fmt.Sprintf(format, args...)) }
}
