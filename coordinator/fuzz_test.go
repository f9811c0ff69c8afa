package coordinator

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// fuzzBatches reads records out of bytes, as a fuzzer can learn to write them: for each record a length and so many bytes
// of key, then of value (255: null); a key of length 254 begins a batch, whose next byte says what kind of batch it is.
func fuzzBatches(data []byte) (batches []LoadedBatch) {
	batch := LoadedBatch{ProducerID: -1, ProducerEpoch: -1}
	next := func() ([]byte, int) {
		if len(data) == 0 {
			return nil, 255
		}
		n := int(data[0])
		data = data[1:]
		if n >= 254 {
			return nil, n
		}
		n = min(n, len(data))
		b := data[:n:n]
		data = data[n:]
		return b, n
	}
	close := func() {
		batch.NextOffset = batch.BaseOffset + int64(len(batch.Records))
		if len(batch.Records) > 0 {
			batches = append(batches, batch)
		}
		batch = LoadedBatch{BaseOffset: batch.NextOffset, ProducerID: -1, ProducerEpoch: -1}
	}
	for len(data) > 0 {
		key, n := next()
		if n == 254 {
			close()
			if len(data) > 0 && data[0]&1 != 0 {
				batch.Transactional, batch.Control = true, data[0]&2 != 0
				batch.ProducerID, batch.ProducerEpoch = int64(data[0]>>2&3), int16(data[0]>>4&1)
			}
			data = data[min(1, len(data)):]
			continue
		}
		value, n := next()
		if n == 255 {
			value = nil
		}
		batch.Records = append(batch.Records, record.Record{Key: key, Value: value})
	}
	close()
	return batches
}

// fuzzed writes what fuzzBatches reads: keys and values by turns in hex, "-" for null, "|XX" for the next batch.
func fuzzed(f *testing.F, words ...string) (data []byte) {
	for _, w := range words {
		kind, batch := strings.CutPrefix(w, "|")
		b, err := hex.DecodeString(strings.Trim(strings.ReplaceAll(kind, " ", ""), "-"))
		switch {
		case err != nil:
			f.Fatal(err)
		case batch:
			data = append(append(data, 254), b...)
		case w == "-":
			data = append(data, 255)
		default:
			data = append(append(data, byte(len(b))), b...)
		}
	}
	return data
}

// FuzzLoad: whatever a partition of __consumer_offsets holds, a load of it ends, and the coordinator goes on: its facts
// are those of its copy, every request gets one answer, time passes and it can be unloaded.
func FuzzLoad(f *testing.F) {
	const (
		offsetKey = "0001 0001 67 0001 74 00000000"
		groupKey  = "0002 0001 67"
		member    = "00030008636f6e73756d657200000003000572616e676500026d3100000000000003e80000000100026d310002693100016300022f680000ea600000271000000001010000000102"
		v3        = "0003000000000000002a0000000700016d00000000000003e8"
	)
	for _, v := range []string{"0000000000000000002a00016d00000000000003e8", "0001000000000000002a00016d00000000000003e800000000000007d0",
		"0002000000000000002a00016d00000000000003e8", v3, "0004000000000000002a00000007026d00000000000003e800"} {
		f.Add(fuzzed(f, offsetKey, v, "0000"+offsetKey[4:], v))
	}
	for _, v := range []string{"00010008636f6e73756d657200000003ffffffff00000000", "00030008636f6e73756d657200000003ffffffff00000000000003e800000000",
		"000409636f6e73756d657200000003000000000000000003e80100", member,
		"00000008636f6e73756d657200000003000572616e676500026d310000000100026d3100016300022f680000271000000001010000000102",
		"00010008636f6e73756d657200000003000572616e676500026d310000000100026d3100016300022f680000ea600000271000000001010000000102",
		"00020008636f6e73756d657200000003000572616e676500026d3100000000000003e80000000100026d3100016300022f680000ea600000271000000001010000000102",
		"000409636f6e73756d6572000000030672616e6765036d3100000000000003e802036d310369310263032f680000ea6000002710020102020000"} {
		f.Add(fuzzed(f, groupKey, v))
	}
	f.Add(fuzzed(f, offsetKey, v3, "|01", offsetKey, v3, "|03", "00000001", "-", "|00", groupKey, member, offsetKey, "-"))
	f.Add(fuzzed(f, "|05", offsetKey, v3, "|07", "00000000", "-", groupKey, "-", "0003 0001 67", "00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		batches := fuzzBatches(data)
		c := New(0, Config{Broker: 1, Numbers: &event.Numbers{}, Settings: DefaultSettings(),
			MemberID: func(clientID string, _ int32, issued int64) string { return fmt.Sprintf("%s-%d", clientID, issued) }})
		c.MetadataChanged(0, Metadata{Brokers: []BrokerInfo{{1, "localhost", 9092}}, Topics: map[string]int32{"t": 1}, OffsetsLeaders: []int32{1}})
		end := int64(0)
		if n := len(batches); n > 0 {
			end = batches[n-1].NextOffset
		}
		c.Immigrate(0, 0, 1, end)
		for _, b := range batches {
			c.Load(0, 0, 1, b)
		}
		c.Loaded(0, 0, 1, "")
		c.Take()
		afterFuzzedLoad(t, c)
	})
}

func afterFuzzedLoad(t *testing.T, c *Coordinator) {
	k := c.Clone(&event.Numbers{})
	if a, b := fmt.Sprint(bodies(c.Facts(1))), fmt.Sprint(bodies(k.Facts(1))); a != b {
		t.Fatalf("facts\n%s\nof the copy\n%s", a, b)
	}
	asked, answered := map[Ticket]bool{}, map[Ticket]bool{}
	take := func(nowMs int64) {
		for again := true; again; {
			again = false
			out := c.Take()
			for _, r := range out.Replies {
				if !asked[r.Ticket] || answered[r.Ticket] {
					t.Fatalf("ticket %d was answered twice, or not asked", r.Ticket)
				}
				answered[r.Ticket] = true
				checkEncodes(t, r.Kmsg)
			}
			for _, a := range slices.Clone(out.Appends) {
				again = true
				c.Appended(nowMs, a.Ticket, 1000+a.Ticket, 0)
			}
		}
	}
	ask := func(nowMs int64, q kmsg.Request) {
		ticket := Ticket(len(asked))
		asked[ticket] = true
		c.Probe(nowMs, Request{Ticket: ticket, ClientID: "c", Kmsg: q})
		c.Handle(nowMs, Request{Ticket: ticket, ClientID: "c", Kmsg: q})
		take(nowMs)
	}
	ids := []string{""}
	for id, g := range c.groups {
		ids = append(ids, id)
		if len(g.members) > 0 {
			requests, _, _, _ := c.Asks(id, g.members[0].id)
			for _, q := range requests {
				ask(2, q)
			}
		}
	}
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Version, describe.Groups = 5, ids
	ask(3, describe)
	for _, id := range ids {
		all := kmsg.NewPtrOffsetFetchRequest()
		all.Version, all.Group = 7, id
		ask(3, all)
	}
	list := kmsg.NewPtrListGroupsRequest()
	list.Version = 4
	ask(3, list)
	const week = 7 * 24 * 3600 * 1000
	for nowMs, steps := int64(4), 0; nowMs >= 0 && nowMs < 2*week && steps < 3000; steps++ {
		c.Advance(nowMs)
		take(nowMs)
		nowMs = max(c.Take().DeadlineMs, -1)
	}
	gone := kmsg.NewPtrDeleteGroupsRequest()
	gone.Version, gone.Groups = 2, ids
	ask(c.nowMs, gone)
	c.Emigrate(c.nowMs, 0, 2)
	take(c.nowMs)
	if len(c.groups) != 0 || len(c.appends) != 0 {
		t.Fatalf("%d groups and %d appends are left", len(c.groups), len(c.appends))
	}
}

func bodies(events []event.Event) (list []event.Body) {
	for _, e := range events {
		list = append(list, e.Body)
	}
	return list
}
