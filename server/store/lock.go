package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// takeLock keeps a second process out (Kafka: FileLock). The lock ends with the process, however it ends.
func takeLock(dir string) (*os.File, error) {
	path := filepath.Join(dir, ".lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("the folder %s cannot be written to: %w", dir, cause(err))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
		}
		who, _ := io.ReadAll(io.LimitReader(f, 20))
		return nil, fmt.Errorf("the folder %s is in use by process %s; end that one, or choose another folder", dir, strings.TrimSpace(string(who)))
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) { // a full disk is no reason not to read what is there
		f.Close()
		return nil, fmt.Errorf("the folder %s cannot be written to: %w", dir, cause(err))
	}
	return f, nil
}

// cause is an error without the path that it happened at.
func cause(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
