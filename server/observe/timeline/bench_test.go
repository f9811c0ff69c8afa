package timeline_test

import (
	"fmt"
	"runtime"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

// manyRecords are those of groups with 4 members and 20 partitions each, which committed rounds times.
func manyRecords(groups, rounds int) [][]timeline.Record {
	const partitions = 50
	list := make([][]timeline.Record, partitions)
	put := func(number int, r timeline.Record) {
		r.Offset = int64(len(list[number]))
		if r.TimestampMs == 0 {
			r.TimestampMs = begun
		}
		list[number] = append(list[number], r)
	}
	for i := range groups {
		name := fmt.Sprintf("payments-service-%04d", i)
		var members []who
		for m := range 4 {
			members = append(members, who{id: fmt.Sprintf("consumer-%d-6f1c2a8e-0a4b-4c39-9d2b-%012d", m, i), has: []int32{int32(m), int32(m + 4), int32(m + 8), int32(m + 12), int32(m + 16)}})
		}
		put(i%partitions, generation(name, 1, begun, members...))
	}
	for round := range rounds {
		for i := range groups {
			for p := range int32(20) {
				put(i%partitions, commit(fmt.Sprintf("payments-service-%04d", i), "orders", p, int64(round), begun))
			}
		}
	}
	return list
}

func readAll(list [][]timeline.Record) *timeline.Timeline {
	tl := timeline.New(timeline.Config{Numbers: &event.Numbers{}})
	tl.Observe(begun, timeline.Attached{ClusterID: "c", Mode: "log", Partitions: int32(len(list))})
	for number, records := range list {
		tl.Observe(begun, timeline.ReadFrom{Partition: int32(number), End: int64(len(records))})
		for len(records) > 0 {
			n := min(len(records), 500)
			tl.Observe(begun, timeline.Records{Partition: int32(number), Next: records[n-1].Offset + 1, Records: records[:n]})
			records = records[n:]
		}
	}
	return tl
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Benchmark5000Groups reads the log of 5 000 groups of 4 members with 20 partitions each, whose offsets were committed
// five times, and prints what it keeps.
func Benchmark5000Groups(b *testing.B) {
	list := manyRecords(5_000, 5)
	records := 0
	for _, x := range list {
		records += len(x)
	}
	before := heap()
	var tl *timeline.Timeline
	for b.Loop() {
		tl = readAll(list)
	}
	after := heap()
	if n := len(tl.Groups()); n != 5_000 || !tl.Ready() {
		b.Fatalf("%d groups, ready %v", n, tl.Ready())
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(after-before)/(1<<20), "MB")
	runtime.KeepAlive(list)
}

// What is kept of 5 000 groups is tens of MB, and deleted groups leave nothing.
func TestMemoryIsBounded(t *testing.T) {
	list := manyRecords(5_000, 1)
	before := heap()
	tl := readAll(list)
	if kept := heap() - before; kept > 60<<20 {
		t.Errorf("%d MB are kept", kept>>20)
	}
	for number := range list {
		var gone []timeline.Record
		for i := number; i < 5_000; i += len(list) {
			name := fmt.Sprintf("payments-service-%04d", i)
			for p := range int32(20) {
				gone = append(gone, uncommit(name, "orders", p))
			}
			gone = append(gone, groupGone(name))
		}
		for i := range gone {
			gone[i].Offset, gone[i].TimestampMs = int64(len(list[number])+i), begun+1
		}
		tl.Observe(begun+1, timeline.Records{Partition: int32(number), Next: gone[len(gone)-1].Offset + 1, Records: gone})
	}
	if n := len(tl.Groups()); n != 0 {
		t.Errorf("%d groups are remembered", n)
	}
	if kept := int64(heap()) - int64(before); kept > 16<<20 {
		t.Errorf("%d MB are kept of nothing", kept>>20)
	}
	runtime.KeepAlive(list)
}
