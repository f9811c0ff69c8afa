package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// broker handles POST /api/brokers/{id}/{verb}.
func (s *Server) broker(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 32)
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("%q is no broker id", r.PathValue("id")), "a broker's id is a number from 1 on")
		return
	}
	verbs := map[string]func(int32) error{"kill": s.cfg.Control.KillBroker, "restart": s.cfg.Control.RestartBroker}
	act, known := verbs[r.PathValue("verb")]
	if !known {
		refuse(w, http.StatusNotFound, fmt.Sprintf("%q is nothing that can be done to a broker", r.PathValue("verb")), "there are kill and restart")
		return
	}
	if err := act(int32(id)); err != nil {
		refuseAction(w, err)
		return
	}
	respond(w, http.StatusOK, map[string]any{"broker": id, "done": r.PathValue("verb")})
}

// partitions handles POST /api/topics/{name}/partitions.
func (s *Server) partitions(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Total      *int32 `json:"total"`
		Partitions *int32 `json:"partitions"` // the same under another name
	}
	const shape = `{"total":8}`
	if !read(w, r, &body, shape) {
		return
	}
	total := body.Total
	if total == nil {
		total = body.Partitions
	}
	if total == nil || *total < 1 || *total > maxPartitions || body.Total != nil && body.Partitions != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("total is missing or no number from 1 to %d", maxPartitions),
			"send what the topic shall have in all: "+shape)
		return
	}
	if err := s.cfg.Control.AddPartitions(r.PathValue("name"), *total); err != nil {
		refuseAction(w, err)
		return
	}
	respond(w, http.StatusOK, map[string]any{"topic": r.PathValue("name"), "partitions": *total})
}

// move handles POST /api/partitions/move.
func (s *Server) move(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Topic     *string `json:"topic"`
		Partition *int32  `json:"partition"`
		To        *int32  `json:"to"`
	}
	const shape = `{"topic":"orders","partition":0,"to":2}`
	if !read(w, r, &body, shape) {
		return
	}
	if body.Topic == nil || body.Partition == nil || body.To == nil {
		refuse(w, http.StatusBadRequest, "topic, partition or to is missing", "send which partition another broker shall lead: "+shape)
		return
	}
	if err := s.cfg.Control.MoveLeader(*body.Topic, *body.Partition, *body.To); err != nil {
		refuseAction(w, err)
		return
	}
	respond(w, http.StatusOK, map[string]any{"topic": *body.Topic, "partition": *body.Partition, "leader": *body.To})
}

// maxPartitions bounds what a topic can be given from a page.
const maxPartitions = 10_000

// demo handles GET and POST /api/demo.
func (s *Server) demo(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		only(http.MethodGet, s.demoList)(w, r)
		return
	}
	s.acting(s.demoAct)(w, r)
}

func (s *Server) demoList(w http.ResponseWriter, _ *http.Request) {
	if s.cfg.Observes {
		respond(w, http.StatusOK, list([]DemoClient{}))
		return
	}
	respond(w, http.StatusOK, list(s.cfg.Control.Demo()))
}

func (s *Server) demoAct(w http.ResponseWriter, r *http.Request) {
	const shape = `{"start":2}, {"kill":"demo-1"} or {"stop":"demo-1"}`
	var body struct {
		Start *int    `json:"start"`
		Kill  *string `json:"kill"`
		Stop  *string `json:"stop"`
	}
	if !read(w, r, &body, shape) {
		return
	}
	switch {
	case body.Start != nil && body.Kill == nil && body.Stop == nil:
		names, err := s.cfg.Control.StartDemo(*body.Start)
		if err != nil {
			refuseAction(w, err)
			return
		}
		respond(w, http.StatusOK, map[string]any{"started": names})
	case body.Kill != nil && body.Start == nil && body.Stop == nil:
		s.demoEnd(w, "killed", *body.Kill, s.cfg.Control.KillDemo)
	case body.Stop != nil && body.Start == nil && body.Kill == nil:
		s.demoEnd(w, "stopped", *body.Stop, s.cfg.Control.StopDemo)
	default:
		refuse(w, http.StatusBadRequest, "one thing at a time: start, kill or stop", "send "+shape)
	}
}

func (s *Server) demoEnd(w http.ResponseWriter, done, name string, act func(string) error) {
	if err := act(name); err != nil {
		refuseAction(w, err)
		return
	}
	respond(w, http.StatusOK, map[string]any{done: name})
}

// refuseAction answers with what Control said: 404 about something that is not there, otherwise 409.
func refuseAction(w http.ResponseWriter, err error) {
	status := http.StatusConflict
	if errors.Is(err, ErrUnknown) {
		status = http.StatusNotFound
	}
	refuse(w, status, err.Error(), "GET /api/state lists brokers, topics and groups; GET /api/demo lists demo clients")
}

// read reads a body of one JSON object into v; shape shows what is right.
func read(w http.ResponseWriter, r *http.Request, v any, shape string) bool {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more follows after the object")
		}
	}
	var tooLarge *http.MaxBytesError
	var other *json.UnmarshalTypeError
	switch {
	case err == nil:
		return true
	case errors.As(err, &other) && other.Field == "": // encoding/json's own words would tell Go's types
		refuse(w, http.StatusBadRequest, "the body is not the JSON object it should be: it is a JSON "+other.Value, "send "+shape)
	case errors.As(err, &other):
		refuse(w, http.StatusBadRequest, fmt.Sprintf("the body is not the JSON object it should be: %q cannot be a %s", other.Field, other.Value), "send "+shape)
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", maxBody), "send "+shape)
	case errors.Is(err, io.EOF):
		refuse(w, http.StatusBadRequest, "the body is empty", "send "+shape)
	default:
		refuse(w, http.StatusBadRequest, "the body is not the JSON object it should be: "+err.Error(), "send "+shape)
	}
	return false
}
