package live

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// followed counts the viewers of each group that somebody follows.
type followed struct {
	mu sync.Mutex
	of map[string]*crowd
	// now is what of says, for the loop that publishes.
	now atomic.Pointer[followedNow]
}

// crowd is who follows one group, by number. partition is where its records are, -1 where that is not known yet.
type crowd struct {
	viewers   int
	partition int32
}

// followedNow are the groups that are followed, and the partitions of __consumer_offsets with their records; -1 stands for any. It is
// not changed.
type followedNow struct {
	groups     map[string]bool
	partitions map[int32]bool
}

func (f *followedNow) some() bool            { return len(f.groups) > 0 }
func (f *followedNow) own(group string) bool { return len(f.groups) > 0 && f.groups[group] }
func (f *followedNow) tape(topic string, partition int32) bool {
	return len(f.partitions) > 0 && topic == offsetsTopic && (f.partitions[partition] || f.partitions[-1])
}

func (f *followed) init() {
	f.of = map[string]*crowd{}
	f.now.Store(&followedNow{})
}

// add counts one viewer of a group until the returned function is called. first is set where there was none.
func (f *followed) add(group string) (leave func(), first bool) {
	if group == "" {
		return func() {}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if first = f.of[group] == nil; first {
		f.of[group] = &crowd{partition: -1}
	}
	f.of[group].viewers++
	f.tell()
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.of[group].viewers--; f.of[group].viewers == 0 {
			delete(f.of, group)
		}
		f.tell()
	}, first
}

// at keeps where a followed group's records are.
func (f *followed) at(group string, partition int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if of := f.of[group]; of != nil && of.partition != partition {
		of.partition = partition
		f.tell()
	}
}

// tell makes now say what of does. The caller holds mu.
func (f *followed) tell() {
	now := &followedNow{groups: make(map[string]bool, len(f.of)), partitions: map[int32]bool{}}
	for group, of := range f.of {
		now.groups[group], now.partitions[of.partition] = true, true
	}
	f.now.Store(now)
}

// Followed are the groups that a viewer follows at the moment, sorted. It may be called from any goroutine.
func (h *Hub) Followed() []string {
	h.followed.mu.Lock()
	defer h.followed.mu.Unlock()
	return slices.Sorted(maps.Keys(h.followed.of))
}
