package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"grouplab/server/live"
	"grouplab/static/view"
)

const (
	// usualLimit is how many groups, and how many rows of each list, are told where nobody asks for more; mostLimit is the most that
	// may be asked for.
	usualLimit, mostLimit = 100, 1000
	// stateTimeout is how long the picture is waited for.
	stateTimeout = 20 * time.Second
)

// state handles GET /api/state; with ?group=NAME only that group, with ?after=NAME those behind it.
func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	what, ok := parseState(w, r)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), stateTimeout)
	defer cancel()
	var body stateJSON
	found := true
	group := r.URL.Query().Get("group")
	err := s.keeper.now(ctx, func(m *view.Model) {
		if found = group == "" || m.Groups[group] != nil && !m.Groups[group].Gone; found {
			body = what.state(m, group)
		}
	})
	if errors.Is(err, live.ErrTooMany) {
		body, found, err = s.stateOfMany(ctx, what, group)
	}
	switch {
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, err.Error(), "the server is shutting down or overloaded; try again")
	case !found:
		refuse(w, http.StatusNotFound, fmt.Sprintf("no group is called %q", cut(group)), "GET /api/state without a parameter lists all groups")
	default:
		body.World = s.cfg.Hub.World()
		respond(w, http.StatusOK, body)
	}
}

// parseState reads limit and after. It has answered where ok is false.
func parseState(w http.ResponseWriter, r *http.Request) (what *shown, ok bool) {
	what = &shown{limit: usualLimit}
	query := r.URL.Query()
	if text := query["limit"]; len(text) > 0 {
		n, err := strconv.Atoi(text[0])
		if err != nil || n < 1 || n > mostLimit || len(text) > 1 {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("limit=%s is not possible", cut(text[0])),
				fmt.Sprintf("limit is how many groups, and rows of each list, are told: 1 to %d, %d without it", mostLimit, usualLimit))
			return nil, false
		}
		what.limit = n
	}
	if after := query["after"]; len(after) > 0 {
		if len(after) > 1 || query.Has("group") {
			refuse(w, http.StatusBadRequest, "after is given beside another after or a group", "?after=NAME alone tells the groups behind a name, ?group=NAME one")
			return nil, false
		}
		what.after = &after[0]
	}
	return what, true
}
