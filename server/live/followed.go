package live

import (
	"maps"
	"slices"
	"sync"
)

// followed counts the viewers of each group that somebody follows.
type followed struct {
	mu sync.Mutex
	of map[string]int
}

// add counts one viewer of a group until the returned function is called.
func (f *followed) add(group string) (leave func()) {
	if group == "" {
		return func() {}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[string]int{}
	}
	f.of[group]++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.of[group]--; f.of[group] == 0 {
			delete(f.of, group)
		}
	}
}

// Followed are the groups that a viewer follows at the moment, sorted. It may be called from any goroutine.
func (h *Hub) Followed() []string {
	h.followed.mu.Lock()
	defer h.followed.mu.Unlock()
	return slices.Sorted(maps.Keys(h.followed.of))
}
