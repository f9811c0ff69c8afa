package event

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		e    Event
		want string
	}{
		{Event{AtMs: 5_250, Broker: 1, Group: "orders-svc", Body: StateChanged{From: Stable, To: PreparingRebalance, Why: WhySessionExpired, Member: "c3-1"}},
			"00:00:05.250 b1 orders-svc StateChanged Stable -> PreparingRebalance: session expired c3-1"},
		{Event{AtMs: 0, Group: "a b", Body: GroupCreated{}}, `00:00:00.000 -- "a b" GroupCreated`},
		{Event{AtMs: 1_000, AtHiMs: 3_000, Broker: 12, Truth: Sampled, Body: BrokerFenced{ID: 2}}, "00:00:01.000…00:00:03.000 b12 (sampled) BrokerFenced 2"},
		{Event{AtMs: 1_000, AtHiMs: 1_000, Truth: Inferred, Body: FactsEnded{}}, "00:00:01.000 -- (inferred) FactsEnded"},
		{Event{AtMs: 3, Broker: 1, Group: "g", Body: HeartbeatReceived{Member: "m", Code: 27, Merged: 2}},
			"00:00:00.003 b1 g HeartbeatReceived m REBALANCE_IN_PROGRESS (+2 alike)"},
		{Event{Broker: 1, Group: "g", Body: ReplySent{Ticket: 4, API: 11, Code: 0, Member: "m", HeldMs: 3_000}},
			"00:00:00.000 b1 g ReplySent JoinGroup #4 to m NONE after 3 s"},
		{Event{Body: InputGiven{Text: "kill c3\nstart c4"}}, `00:00:00.000 -- InputGiven kill c3\nstart c4`},
		{Event{AtMs: 9}, "00:00:00.009 -- ?"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A line stays a line, whatever a client calls itself, its group or its topics.
func TestHostileNamesStayOnOneLine(t *testing.T) {
	for _, evil := range []string{"evil\nname", "\x1b[31mred\x1b[0m", "right\u202eleft", "a\u2028b", "a\x00b\x7f", "bad\xffutf8", "tab\there", " "} {
		for _, kind := range Kinds() {
			e := Event{AtMs: 1, Broker: 1, Group: evil, Body: filled(t, kind, func(int64) string { return evil })}
			for _, r := range e.String() {
				if !strconv.IsPrint(r) {
					t.Errorf("%s with %q prints %q", kind, evil, e.String())
					break
				}
			}
		}
	}
}

// Fields that may be missing (omitempty) may all be there or all be missing: no format error, no blank too many.
func TestEveryKindPrintsWell(t *testing.T) {
	for _, kind := range Kinds() {
		sparse := reflect.New(bodyType(t, kind)).Elem()
		sparse.Set(reflect.ValueOf(filled(t, kind, plainText)))
		for i := range sparse.NumField() {
			if strings.HasSuffix(sparse.Type().Field(i).Tag.Get("json"), ",omitempty") {
				sparse.Field(i).SetZero()
			}
		}
		for _, body := range []Body{filled(t, kind, plainText), sparse.Interface().(Body)} {
			text := Event{Body: body}.Text()
			if !strings.HasPrefix(text, kind) || strings.Contains(text, "  ") || strings.Contains(text, " :") ||
				strings.Contains(text, "%!") || strings.TrimSpace(text) != text {
				t.Errorf("%q", text)
			}
		}
	}
}

func TestClock(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "00:00:00.000", 7: "00:00:00.007", 61_005: "00:01:01.005", 3_599_999: "00:59:59.999", 3_600_000: "01:00:00.000",
		86_400_000: "24:00:00.000", 360_000_000: "100:00:00.000", -1: "-00:00:00.001", -3_661_001: "-01:01:01.001",
	} {
		if got := Clock(ms); got != want {
			t.Errorf("Clock(%d) = %s, want %s", ms, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "0 ms", 1: "1 ms", 999: "999 ms", 1_000: "1 s", 1_099: "1 s", 1_100: "1.1 s", 5_149: "5.1 s", 10_000: "10 s", 59_999: "59.9 s",
		60_000: "1 min", 60_999: "1 min", 61_000: "1 min 1 s", 80_000: "1 min 20 s", 300_000: "5 min", 3_600_000: "60 min",
		-850: "-850 ms", -80_000: "-1 min 20 s",
	} {
		if got := Duration(ms); got != want {
			t.Errorf("Duration(%d) = %q, want %q", ms, got, want)
		}
	}
	if got := Duration(math.MinInt64); got != "-153722867280912 min 55 s" {
		t.Errorf("Duration of the smallest number = %q", got)
	}
	if got := Clock(math.MinInt64); got != "-2562047788015:12:55.807" {
		t.Errorf("Clock of the smallest number = %q", got)
	}
}

func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"": `""`, "c1": "c1", "consumer-1-5f2c": "consumer-1-5f2c", "größe": "größe", "群": "群", "a b": `"a b"`, "a\nb": `"a\nb"`,
		`say "hi"`: `"say \"hi\""`, "\x1b[2J": `"\x1b[2J"`, "<script>": "<script>", "\xff": `"\xff"`,
	} {
		if got := Name(name); got != want {
			t.Errorf("Name(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestKafkasWords(t *testing.T) {
	for key, want := range map[int16]string{0: "Produce", 8: "OffsetCommit", 9: "OffsetFetch", 10: "FindCoordinator", 11: "JoinGroup",
		12: "Heartbeat", 13: "LeaveGroup", 14: "SyncGroup", 15: "DescribeGroups", 16: "ListGroups", 999: "API 999", -1: "API -1"} {
		if got := APIName(key); got != want {
			t.Errorf("APIName(%d) = %q, want %q", key, got, want)
		}
	}
	for code, want := range map[int16]string{0: "NONE", -1: "UNKNOWN_SERVER_ERROR", 14: "COORDINATOR_LOAD_IN_PROGRESS", 15: "COORDINATOR_NOT_AVAILABLE",
		16: "NOT_COORDINATOR", 22: "ILLEGAL_GENERATION", 25: "UNKNOWN_MEMBER_ID", 27: "REBALANCE_IN_PROGRESS", 79: "MEMBER_ID_REQUIRED", 9999: "ERROR_9999"} {
		if got := CodeName(code); got != want {
			t.Errorf("CodeName(%d) = %q, want %q", code, got, want)
		}
	}
	if got := Partitions(nil); got != "none" {
		t.Errorf("Partitions of nothing: %q", got)
	}
	if got := Partitions([]TopicPartitions{{"orders", []int32{0, 1}}, {"a b", []int32{3}}}); got != `orders-0,1 "a b"-3` {
		t.Errorf("Partitions: %q", got)
	}
}
