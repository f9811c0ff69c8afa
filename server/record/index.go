package record

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
)

// indexSuffix ends the name of a small file beside each finished segment, with what would have to be read out of it otherwise: a
// start that reads hundreds of megabytes through takes minutes. It is written anew where it is missing or not of its segment.
const indexSuffix = ".json"

type index struct {
	FromMs int64    `json:"fromMs"`
	ToMs   int64    `json:"toMs"`
	Bytes  int64    `json:"bytes"`
	Events int      `json:"events"`
	Groups []string `json:"groups"`
}

// writeIndex keeps what is known of a segment. Where it cannot be written nothing is lost but time at the next start.
func (s *Segment) writeIndex() {
	text, err := json.Marshal(index{s.FromMs, s.ToMs, s.Bytes, s.Events, slices.Sorted(maps.Keys(s.Groups))})
	if err == nil {
		_ = os.WriteFile(s.path+indexSuffix, text, 0o600)
	}
}

// readIndex is what is known of a segment, if that is of the file as it is.
func readIndex(path string) (s Segment, ok bool) {
	text, err := os.ReadFile(path + indexSuffix)
	if err != nil {
		return s, false
	}
	var x index
	info, err := os.Stat(path)
	if err != nil || json.Unmarshal(text, &x) != nil || x.Bytes != info.Size() {
		return s, false
	}
	s = Segment{FromMs: x.FromMs, ToMs: x.ToMs, Bytes: x.Bytes, Events: x.Events, Groups: map[string]bool{}, path: path}
	for _, g := range x.Groups {
		s.Groups[g] = true
	}
	return s, true
}
