package script_test

import (
	"strings"
	"testing"

	"grouplab/coordinator/sim/script"
)

// One broker, and one consumer that has its assignment: what a fault does to it is seen alone.
const oneConsumer = `
seed 3
brokers 3
set offsets.topic.num.partitions 1
set group.initial.rebalance.delay.ms 0
topic orders 2
group g
consumer c1 session=10s rebalance=20s commit=off request-timeout=4s
start c1
until state Stable and client c1 STABLE
`

// Each fault, as a lesson may tell it: what follows from it is in the script's own expectations.
func TestFaults(t *testing.T) {
	for name, text := range map[string]string{
		"an append that is refused": `
			fail-appends offsets NOT_ENOUGH_REPLICAS 1
			commit c1 orders-0 5
			until within=5s event ReplyReceived client=c1 api=OffsetCommit
			expect event AppendFinished code=NOT_ENOUGH_REPLICAS and event ReplySent api=OffsetCommit code=COORDINATOR_NOT_AVAILABLE
			expect not event RecordsAppended topic=__consumer_offsets and not committed orders-0 >= 0`,
		"an append that fails late": `
			fail-appends any KAFKA_STORAGE_ERROR 1 late
			commit c1 orders-0 5
			until within=5s event ReplyReceived client=c1 api=OffsetCommit
			expect event RecordsAppended topic=__consumer_offsets and event ReplySent api=OffsetCommit code=NOT_COORDINATOR`,
		"a fault that was taken back": `
			fail-appends offsets CORRUPT_MESSAGE 3
			fail-appends offsets CORRUPT_MESSAGE 0
			commit c1 orders-0 5
			until within=5s committed orders-0 == 5`,
		"an append whose answer is slow": `
			slow-appends offsets 2s 1
			commit c1 orders-0 5
			advance 1900ms
			expect not committed orders-0 >= 0
			advance 200ms
			expect committed orders-0 == 5`,
		"an append whose answer is too slow": `
			slow-appends offsets 9s 1
			commit c1 orders-0 5
			until within=6s event AppendFinished code=REQUEST_TIMED_OUT
			expect event ReplySent api=OffsetCommit code=COORDINATOR_NOT_AVAILABLE`,
		"a leader that moves while the old one lives": `
			expect coordinator 1
			move-leader __consumer_offsets-0 2
			until within=30s coordinator 2 and members == 1
			! move-leader __consumer_offsets-0 9
			! move-leader nothing-0 1`,
		"a request that is late": `
			delay c1 Heartbeat 1 2s
			until within=8s event HeartbeatReceived
			expect members == 1`,
		"a join that arrives twice": `
			duplicate c1 JoinGroup 5 1s
			restart c1
			until within=60s event RequestSent api=JoinGroup copyOf=12
			advance 60s
			expect state Stable and client c1 STABLE`,
		"a client that is cut off from its coordinator": `
			cut c1 1
			! cut c1 1
			until within=30s event MemberRemoved why="session expired"
			heal c1 1
			! heal c1 1
			until within=60s state Stable and client c1 STABLE`,
		"a topic that is deleted": `
			commit c1 orders-0 5
			until within=5s committed orders-0 == 5
			delete-topic orders
			expect event OffsetsRemoved why="the topic was deleted" and not committed orders-0 >= 0
			! delete-topic orders
			! delete-topic __consumer_offsets
			topic orders 1`,
		"settings that change": `
			set group.max.size 1
			consumer c2
			start c2
			until within=60s event ReplySent api=JoinGroup code=GROUP_MAX_SIZE_REACHED
			! set offsets.topic.num.partitions 9
			! set group.max.size many`,
		"requests of an old client": `
			consumer old v=1 requests=old session=10s rebalance=20s
			start old
			until within=60s client old STABLE and members == 2
			expect event RequestReceived api=SyncGroup version=0 clientId=old
			stop old
			until within=60s client old STOPPED
			expect event RequestReceived api=LeaveGroup version=0 clientId=old`,
	} {
		t.Run(name, func(t *testing.T) { play(t, oneConsumer+strings.ReplaceAll(text, "copyOf=12", "copyOf="+copyOf(t))) })
	}
}

// copyOf is the number of the JoinGroup that a restarted c1 of oneConsumer sends with the id that it was given.
func copyOf(t *testing.T) string {
	e := play(t, oneConsumer+"duplicate c1 JoinGroup 1\nrestart c1\nadvance 1s")
	for _, ev := range e.Take() {
		if line := ev.String(); strings.Contains(line, "a copy of #") {
			return line[strings.LastIndex(line, "#")+1:]
		}
	}
	t.Fatal("no request was sent twice")
	return ""
}

// Requests made by hand: each API, as a stranger, as a member by its client's name, and as the tool itself.
func TestAsk(t *testing.T) {
	for _, x := range []struct{ ask, answer string }{
		{"Heartbeat member=c1", "NONE"},
		{"Heartbeat member=c1 generation=7", "ILLEGAL_GENERATION"},
		{"Heartbeat member=stranger", "UNKNOWN_MEMBER_ID"},
		{"Heartbeat member=c1 instance=i1", "UNKNOWN_MEMBER_ID"},
		{`Heartbeat group="" member=c1`, "INVALID_GROUP_ID"},
		{"Heartbeat member=c1 broker=2", "NOT_COORDINATOR"},
		{"SyncGroup member=c1", "NONE"},
		{"SyncGroup member=c1 type=none", "INCONSISTENT_GROUP_PROTOCOL"},
		{"JoinGroup", "MEMBER_ID_REQUIRED"},
		{"JoinGroup session=1s", "INVALID_SESSION_TIMEOUT"},
		{"JoinGroup protocols=other v=3", "INCONSISTENT_GROUP_PROTOCOL"},
		{"LeaveGroup member=stranger", "UNKNOWN_MEMBER_ID"},
		{"LeaveGroup member=c1 v=2", "NONE"},
		{"OffsetCommit partitions=orders-0,orders-1 offset=42 member=c1", "NONE"},
		{"OffsetCommit partitions=orders-0 offset=42", "UNKNOWN_MEMBER_ID"},
		{"OffsetCommit group=mine partitions=orders-0 offset=42 v=3 retention=5s", "NONE"},
		{"OffsetCommit group=mine partitions=orders-0 metadata=5000", "OFFSET_METADATA_TOO_LARGE"},
		{"OffsetCommit group=mine partitions=orders-7", "UNKNOWN_TOPIC_OR_PARTITION"},
		{"OffsetFetch", "NONE"},
		{"OffsetFetch v=1 partitions=orders-0 stable=yes", "NONE"},
		{"OffsetDelete partitions=orders-0", "GROUP_SUBSCRIBED_TO_TOPIC"},
		{"DeleteGroups", "NON_EMPTY_GROUP"},
		{"DeleteGroups group=nobody", "GROUP_ID_NOT_FOUND"},
		{"DescribeGroups", "NONE"},
		{"ListGroups", "NONE"},
		{"FindCoordinator v=0", "NONE"},
		{"TxnOffsetCommit partitions=orders-0 transactional=tx producer=c1", "COORDINATOR_NOT_AVAILABLE"},
	} {
		t.Run(x.ask, func(t *testing.T) {
			play(t, oneConsumer+"ask "+x.ask+"\nuntil within=10s event ReplyReceived client=admin\nexpect event ReplyReceived client=admin code="+x.answer)
		})
	}
	play(t, oneConsumer+`
		ask JoinGroup
		until within=1s event ReplyReceived client=admin
		ask LeaveGroup member=admin
		until within=1s event ReplyReceived client=admin
		expect event PendingForgotten why="member left"`)
}

func TestFaultsThatCannotBe(t *testing.T) {
	for line, want := range map[string]string{
		"fail-appends groups CORRUPT_MESSAGE 1":   `no coordinator writes "groups"; did you mean "group"?`,
		"fail-appends group NOT_ENOUGH_REPLICA 1": `did you mean "NOT_ENOUGH_REPLICAS"?`,
		"fail-appends any CORRUPT_MESSAGE 1 soon": `or the word late, not "soon"`,
		"slow-appends group 0s 1":                 "at least 1 ms",
		"delay c1 JoinGroups 1 1s":                `did you mean "JoinGroup"?`,
		"cut c1 12":                               "BROKER is a whole number from 1 to 9",
		"delete-topic ?":                          "cannot be a topic's name",
		"ask JoinGrop":                            `did you mean "JoinGroup"?`,
		"ask Heartbeat partitions=orders":         "is no partition",
		"ask Heartbeat v=12":                      "v is a whole number from 0 to 9",
		"ask Heartbeat memer=c1":                  `did you mean "member"?`,
	} {
		if _, err := script.ParseLine("test", 1, line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	for line, want := range map[string]string{
		"delay c9 JoinGroup 1 1s":              `there is no consumer "c9"`,
		"duplicate c9 JoinGroup 1":             `there is no consumer "c9"`,
		"cut c9 1":                             `there is no consumer "c9"`,
		"cut c1 7":                             "there is no broker 7",
		"heal c1 2":                            "are not cut off",
		"ask Heartbeat broker=7":               "there is no broker 7",
		"ask Heartbeat v=5":                    "there is no v=5 of Heartbeat here: 0 to 4",
		"ask TxnOffsetCommit producer=c9":      `there is no consumer "c9"`,
		"set offsets.load.buffer.size 9":       "cannot be changed while the brokers run",
		"set group.min.session.timeout.ms x":   "it takes a whole number",
		"move-leader orders-0 4":               "there is no broker 4",
		"delete-topic __consumer_offsets":      "INVALID_REQUEST",
		"slow-appends any 2h 1":                "1 ms to 1 h",
		"duplicate c1 JoinGroup 1 2h":          "0 ms to 1 h",
		"kill admin":                           `there is no consumer "admin"`,
		"move-leader __consumer_offsets-77 1":  "there is no partition",
		"ask OffsetFetch broker=2 group=x v=9": "",
	} {
		err := run(t, play(t, oneConsumer), line)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// A copy has the faults of the original, and none that come later.
func TestFaultsAreCopied(t *testing.T) {
	e := play(t, oneConsumer+"fail-appends offsets NOT_ENOUGH_REPLICAS 1\ncut c1 2\ndelay c1 OffsetCommit 1 3s\nask JoinGroup\nadvance 5ms")
	copied := e.Clone()
	for _, w := range []*script.Engine{e, copied} {
		if err := run(t, w, "commit c1 orders-0 5\nuntil within=10s event AppendFinished\nadvance 2s"); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t, copied, "heal c1 2"); err != nil {
		t.Error(err)
	}
	if err := run(t, e, "! cut c1 2"); err != nil {
		t.Error("healing the copy has healed the original:", err)
	}
	if got, want := e.Take(), copied.Take(); len(got) == 0 || len(want) < len(got) {
		t.Errorf("%d events, the copy has %d", len(got), len(want))
	} else {
		for i := range min(len(got), len(want)) {
			if got[i].Seq == want[i].Seq && got[i].String() != want[i].String() && !strings.Contains(want[i].String(), "InputGiven") {
				t.Fatalf("%s, the copy: %s", got[i], want[i])
			}
		}
	}
}
