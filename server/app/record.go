package app

import (
	"fmt"
	"strings"
	"time"

	"grouplab/coordinator/recording"
	"grouplab/server/record"
)

// Record is what is kept of what happens, to go back to it.
type Record struct {
	// Dir is the folder, "" keeps nothing. Bytes and Age bound it; 0 stands for 256 MB and 24 hours.
	Dir   string
	Bytes int64
	Age   time.Duration
}

// record opens the recorder once the hub is there, where one is wanted and nothing went wrong before.
func (s *Server) record(err error) error {
	if err != nil || s.cfg.Record.Dir == "" {
		return err
	}
	if s.hub == nil {
		return usagef("-record: it keeps what the page shows, and there is none with -http \"\"")
	}
	header := recording.Header{Observed: s.observer != nil}
	for _, set := range s.cfg.Set {
		if strings.HasPrefix(set, "group.") || strings.HasPrefix(set, "offsets.") {
			header.Set = append(header.Set, set)
		}
	}
	if s.recorder, err = record.Open(record.Config{Dir: s.cfg.Record.Dir, Hub: s.hub, Bytes: s.cfg.Record.Bytes, Age: s.cfg.Record.Age, Header: header, Log: s.cfg.Log}); err != nil {
		return fmt.Errorf("-record: %w", err)
	}
	s.web.Record(s.recorder)
	return nil
}

// recording records until the returned function is called.
func (s *Server) recording() (end func()) {
	if s.recorder == nil {
		return func() {}
	}
	s.recorder.Start()
	return s.endRecording
}

func (s *Server) endRecording() {
	if s.recorder == nil {
		return
	}
	if err := s.recorder.Close(); err != nil {
		s.cfg.Logf("-record: %v", err)
	}
}
