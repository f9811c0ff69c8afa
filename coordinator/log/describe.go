package log

import (
	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// Describe decodes a batch of __consumer_offsets for people. What cannot be read is "other"; a batch that cannot be
// opened is described by nothing.
func Describe(b Batch, unpack Decompress) []event.LogRecord {
	list := make([]event.LogRecord, 0, max(0, min(int(b.Count), len(b.Bytes)/7)))
	err := b.Each(unpack, func(r Record) bool {
		list = append(list, describe(b, r))
		return true
	})
	if err != nil {
		return nil
	}
	return list
}

func describe(b Batch, r Record) event.LogRecord {
	other := event.LogRecord{What: "other", Tombstone: r.Value == nil}
	if b.Control() {
		if commit, _, known := marker(b); known {
			return event.LogRecord{What: "marker", Commit: commit}
		}
		return event.LogRecord{What: "other"}
	}
	key, err := record.DecodeKey(r.Key)
	if err != nil {
		return other
	}
	switch {
	case key.IsOffset():
		d := event.LogRecord{What: "offset", Group: key.Group, Topic: key.Topic, Partition: key.Partition, Tombstone: r.Value == nil}
		if d.Tombstone {
			return d
		}
		v, err := record.DecodeOffset(r.Value)
		if err != nil {
			return other
		}
		d.Offset, d.Metadata = v.Offset, v.Metadata
		return d
	case key.IsGroup():
		d := event.LogRecord{What: "group", Group: key.Group, Tombstone: r.Value == nil}
		if d.Tombstone {
			return d
		}
		v, err := record.DecodeGroup(r.Value)
		if err != nil {
			return other
		}
		d.Generation, d.Members = v.Generation, len(v.Members)
		if v.Protocol != nil {
			d.Protocol = *v.Protocol
		}
		return d
	}
	return other
}
