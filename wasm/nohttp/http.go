// Package http is what the tab is built with in place of net/http (see overlay in the Makefile). The tab never speaks
// HTTP: templ and the websocket client name a few of its types in functions that a page does not call. The real package
// brings TLS and X.509 with it, whose tables and start-up code no linker can drop: half a megabyte, compressed.
//
// An ordinary build uses the real net/http; it is only larger. What is missing here fails to compile, so a dependency
// that begins to need HTTP in the tab is noticed at once.
package http

import (
	"context"
	"net/url"
)

// Statuses that are named.
const (
	StatusSwitchingProtocols  = 101
	StatusOK                  = 200
	StatusBadRequest          = 400
	StatusNotFound            = 404
	StatusInternalServerError = 500
)

// Header holds header fields by name.
type Header map[string][]string

// Set replaces a field.
func (h Header) Set(name, value string) { h[name] = []string{value} }

// ResponseWriter writes an answer; nothing in a tab implements it.
type ResponseWriter interface {
	Header() Header
	Write([]byte) (int, error)
	WriteHeader(status int)
}

// Flusher is a ResponseWriter that can send what it holds.
type Flusher interface{ Flush() }

// Handler answers requests; nothing in a tab calls one.
type Handler interface {
	ServeHTTP(ResponseWriter, *Request)
}

// HandlerFunc is a function that answers requests.
type HandlerFunc func(ResponseWriter, *Request)

// ServeHTTP calls the function.
func (f HandlerFunc) ServeHTTP(w ResponseWriter, r *Request) { f(w, r) }

// Request is what would be asked.
type Request struct {
	URL *url.URL
	ctx context.Context
}

// Context is the request's.
func (r *Request) Context() context.Context {
	if r.ctx == nil {
		return context.Background()
	}
	return r.ctx
}

// WithContext is the request with another context.
func (r *Request) WithContext(ctx context.Context) *Request { return &Request{URL: r.URL, ctx: ctx} }

// Response is what a websocket's handshake gives back; the browser's tells nothing but its status.
type Response struct {
	StatusCode int
}

// Error writes an answer that says what went wrong.
func Error(w ResponseWriter, text string, status int) {
	w.WriteHeader(status)
	w.Write([]byte(text)) // an error here has nobody to hear of it
}
