package timeline_test

import (
	"runtime"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

// FuzzRecords: whatever lies in the log, nothing panics, facts can be told, and what is kept is bounded by what was read.
func FuzzRecords(f *testing.F) {
	add := func(records ...timeline.Record) {
		var data []byte
		for _, r := range records {
			data = append(data, byte(len(r.Key)>>8), byte(len(r.Key)), byte(len(r.Value)>>8), byte(len(r.Value)), 0)
			data = append(append(data, r.Key...), r.Value...)
		}
		f.Add(data, true)
		f.Add(data, false)
	}
	add(generation("g", 1, 10, who{id: "a", has: []int32{0}}), generation("g", 2, 20, who{id: "a", has: []int32{0}}, who{id: "b"}), generation("g", 3, 30), groupGone("g"))
	add(commit("g", "t", 0, 5, 10), uncommit("g", "t", 0))
	add(epoch("g", 1, 9), modernMember("g", "m", "i", "t"), targetEpoch("g", 1), target("g", "m", 0, 1), current("g", "m", 1, 0, 1, []int32{0}, []int32{1}),
		tombstone(modernKey(8, "g", "m")), tombstone(modernKey(5, "g", "m")), tombstone(modernKey(3, "g")))
	add(groupGone("g"), epoch("g", 1, 9), tombstone([]byte{0, 16, 0, 1, 'g', 0, 0}))
	f.Fuzz(func(t *testing.T, data []byte, ready bool) {
		size := len(data)
		tl := timeline.New(timeline.Config{Numbers: &event.Numbers{}})
		tl.Observe(1_000, timeline.Attached{ClusterID: "c", Mode: "log", Partitions: 1})
		end := int64(0)
		if !ready {
			end = 1 << 20
		}
		tl.Observe(1_000, timeline.ReadFrom{Partition: 0, End: end})
		var records []timeline.Record
		for len(data) >= 5 {
			keyBytes, valueBytes, how := int(data[0])<<8|int(data[1]), int(data[2])<<8|int(data[3]), data[4]
			data = data[5:]
			if keyBytes+valueBytes > len(data) {
				break
			}
			r := timeline.Record{Offset: int64(len(records)) + int64(how&1), TimestampMs: 1_000 + int64(how>>4), Key: data[:keyBytes:keyBytes], ProducerID: -1}
			if valueBytes > 0 {
				r.Value = data[keyBytes : keyBytes+valueBytes : keyBytes+valueBytes]
			}
			if how&2 != 0 {
				r.Transactional, r.ProducerID = true, int64(how>>6)
			}
			r.Control = how&4 != 0
			records, data = append(records, r), data[keyBytes+valueBytes:]
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		events := tl.Observe(2_000, timeline.Records{Partition: 0, Next: int64(len(records)) + 1, Records: records})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(size)*2_000+1<<20 {
			t.Errorf("%d bytes of records made it allocate %d", size, used)
		}
		for _, name := range tl.Groups() {
			tl.Observe(2_100, timeline.Described{Group: name, Type: "classic", State: event.PreparingRebalance, AskedMs: 2_050, AnsweredMs: 2_060})
			tl.Observe(2_100, timeline.LogEnds{Topic: "t", AskedMs: 2_050, AnsweredMs: 2_060, Partitions: []timeline.LogEnd{{End: 3}}})
		}
		tl.Observe(3_000, timeline.Position{Partition: 0, Next: 1 << 21})
		for _, e := range append(events, tl.Facts(3_000)...) {
			if e.Body == nil || e.String() == "" {
				t.Errorf("%+v", e)
			}
		}
	})
}
