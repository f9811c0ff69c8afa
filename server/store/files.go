package store

import (
	"container/list"
	"errors"
	"os"
	"sync"
	"syscall"
)

// files are the open segment files, those that were used last. The goroutine that owns the logs and the writer share them.
type files struct {
	mu     sync.Mutex
	open   map[string]*list.Element
	order  *list.List // of openFile, the newest in front
	most   int
	create func(path string) (*os.File, error)
}

type openFile struct {
	path string
	file *os.File
}

// fewestFiles and mostFiles bound how many files stay open; in between it is half of what the process may open.
const (
	fewestFiles = 32
	mostFiles   = 4096
)

func newFiles() *files {
	most := mostFiles
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Cur/2 < mostFiles {
		most = max(fewestFiles, int(limit.Cur/2))
	}
	return &files{open: map[string]*list.Element{}, order: list.New(), most: most}
}

// use opens a file that is there, if it is not open, and does something with it: again where the other goroutine closed it
// in between to make room.
func (f *files) use(path string, do func(file *os.File) error) error {
	for {
		file, err := f.get(path, false)
		if err != nil {
			return err
		}
		if err = do(file); !errors.Is(err, os.ErrClosed) {
			return err
		}
	}
}

// get returns an open file that is there; fresh makes it, empty.
func (f *files) get(path string, fresh bool) (*os.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.open[path]; e != nil {
		f.order.MoveToFront(e)
		return e.Value.(openFile).file, nil
	}
	var file *os.File
	var err error
	if fresh {
		file, err = f.create(path)
	} else {
		file, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, err
	}
	for f.order.Len() >= f.most {
		f.forget(f.order.Back().Value.(openFile).path)
	}
	f.open[path] = f.order.PushFront(openFile{path, file})
	return file, nil
}

// drop closes a file, if it is open.
func (f *files) drop(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(path)
}

func (f *files) forget(path string) {
	if e := f.open[path]; e != nil {
		e.Value.(openFile).file.Close()
		f.order.Remove(e)
		delete(f.open, path)
	}
}

func (f *files) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path := range f.open {
		f.forget(path)
	}
}
