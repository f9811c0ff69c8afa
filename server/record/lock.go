package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// takeLock keeps a second process out. The lock ends with the process, however it ends.
func takeLock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the folder %s cannot be written to: %w", dir, cause(err))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s cannot be locked: %w", f.Name(), err)
		}
		who, _ := io.ReadAll(io.LimitReader(f, 20))
		return nil, fmt.Errorf("process %s records into the folder %s already; end that one, or choose another folder", strings.TrimSpace(string(who)), dir)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0) // only for who is told of it
	}
	return f, nil
}

// cause is an error without the path that it happened at.
func cause(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}
