package app

import (
	"fmt"
	"log/slog"

	"grouplab/server/web"
)

// openPage serves the lab's page, where it is wanted: until Run it says how far the start is.
func (s *Server) openPage() {
	if s.page == nil {
		return
	}
	s.front = web.NewFront(func() web.Progress { return s.starting.Load().Now() })
	s.site = web.HTTPServer(s.front)
	s.site.ErrorLog = slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug) // peers that break off
	s.served = make(chan error, 1)
	socket := s.page
	if s.cfg.HTTPTLS {
		socket = s.tls.overTLS(socket)
	}
	go func() { s.served <- s.site.Serve(socket) }()
}

// closePage ends the page and waits for its listener.
func (s *Server) closePage() {
	if s.page != nil {
		s.site.Close()
		<-s.served
	}
}

// servePages shows the lab, where it is wanted, until the server stops.
func (s *Server) servePages() error {
	if s.page == nil {
		<-s.ctx.Done()
		return nil
	}
	s.front.Ready(s.web)
	defer s.tell()()
	select {
	case err := <-s.served:
		s.hub.Close()
		s.stop()
		return fmt.Errorf("-http %s: %w", s.http, err)
	case <-s.ctx.Done():
	}
	s.hub.Close()
	s.closePage()
	return nil
}

// HTTPAddr is the lab's address, HOST:PORT; "" where there are no pages.
func (s *Server) HTTPAddr() string {
	if s.page == nil {
		return ""
	}
	return s.http.String()
}

// URL is where a browser finds the lab; "" where there are no pages.
func (s *Server) URL() string {
	switch {
	case s.page == nil:
		return ""
	case s.cfg.HTTPTLS:
		return "https://" + s.http.String()
	}
	return "http://" + s.http.String()
}
