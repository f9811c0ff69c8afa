package app

import (
	"errors"
	"fmt"
)

// usage is an error in what the server was asked for, as against one that the machine it runs on has.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }

// IsUsage tells whether an error of New is about what was asked for: other flags would be right, whatever the machine is like.
func IsUsage(err error) bool { return errors.As(err, new(usage)) }
