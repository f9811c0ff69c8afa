package brokerlog_test

import (
	"fmt"
	"strings"
	"testing"

	"grouplab/coordinator/brokerlog"
	"grouplab/coordinator/event"
)

// read takes a text as a pasted one.
func read(text string) brokerlog.Result {
	log := brokerlog.NewLog(brokerlog.Config{})
	for line := range strings.Lines(text) {
		log.Add(strings.TrimSuffix(line, "\n"))
	}
	telling := log.Finish()
	for telling.Step(100) {
	}
	return telling.Result()
}

// facts prints what a text tells, one fact a line: "line: group: kind and text".
func facts(r brokerlog.Result) string {
	var b strings.Builder
	for i, e := range r.Events {
		fmt.Fprintf(&b, "%d %s %s\n", r.Lines[i], e.Group, e.Text())
	}
	return b.String()
}

const (
	uuid1 = "1d0c7a52-90be-4a51-8c1e-6f27d1a0b001"
	uuid2 = "7be2f0c4-11d3-4c7e-b0aa-2f6f6f10b002"
)

// Each line, by what wrote it, and the facts that it must tell.
var linesOfSources = []struct {
	name, line string
	want       []string
}{
	{"Scala coordinator, rebalance", `[2026-11-30 04:05:06,789] INFO [GroupCoordinator 1]: Preparing to rebalance group ledger in state PreparingRebalance with old generation 3 (__consumer_offsets-7) (reason: Adding new member app-1-` + uuid1 + ` with group instance id None; client reason: not provided) (kafka.coordinator.group.GroupCoordinator)`,
		[]string{"RebalanceStarted generation 3 ends: new member app-1-" + uuid1, "StateChanged Stable -> PreparingRebalance", "MemberAdded app-1-" + uuid1, "__consumer_offsets-7"}},
	{"coordinator of 4.x, rebalance", `[2026-11-30 04:05:06,789] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=7] Preparing to rebalance group ledger in state Stable with old generation 3 (reason: Leader app-1-` + uuid1 + ` re-joining group during Stable; client reason: cached metadata has changed). (org.apache.kafka.coordinator.group.GroupMetadataManager)`,
		[]string{`RebalanceStarted generation 3 ends: leader rejoined app-1-` + uuid1 + ` client says "cached metadata has changed"`, "__consumer_offsets-7"}},
	{"0.10", `[2026-11-30 04:05:06,789] INFO [GroupCoordinator 1]: Preparing to restabilize group ledger with old generation 3 (kafka.coordinator.GroupCoordinator)`,
		[]string{"RebalanceStarted generation 3 ends"}},
	{"stabilized", `Stabilized group ledger generation 4 (__consumer_offsets-7) with 3 members`, []string{"GenerationStarted 4", "StateChanged PreparingRebalance -> CompletingRebalance"}},
	{"assignment", `Assignment received from leader app-1-` + uuid1 + ` for group ledger for generation 4. The group has 3 members, 1 of which are static.`,
		[]string{"LeaderElected app-1-" + uuid1, "AssignmentReceived generation 4", "StateChanged CompletingRebalance -> Stable", "members 1"}},
	{"assignment, older", `Assignment received from leader for group ledger for generation 4 (kafka.coordinator.group.GroupCoordinator)`, []string{"AssignmentReceived generation 4"}},
	{"failed", `Member app-1-` + uuid1 + ` in group ledger has failed, removing it from the group`, []string{"MemberRemoved app-1-" + uuid1 + ": session expired"}},
	{"left, as Scala prints members", `Member MemberMetadata(memberId=app-1-` + uuid1 + `, groupInstanceId=Some(i-1), clientId=app-1, clientHost=/10.0.0.7, sessionTimeoutMs=45000, rebalanceTimeoutMs=300000, supportedProtocols=List(range)) has left group ledger through explicit ` + "`LeaveGroup`" + `; client reason: the consumer is being closed`,
		[]string{`MemberRemoved app-1-` + uuid1 + `: member left client says "the consumer is being closed"`}},
	{"left, 4.x", `[GroupCoordinator id=1 topic=__consumer_offsets partition=7] [Group ledger] Member app-1-` + uuid1 + ` has left group through explicit ` + "`LeaveGroup`" + ` request; client reason: not provided (org.apache.kafka.coordinator.group.GroupMetadataManager)`,
		[]string{"MemberRemoved app-1-" + uuid1 + ": member left"}},
	{"did not join", `Group ledger removed dynamic members who haven't joined: Set(app-1-` + uuid1 + `, app-2-` + uuid2 + `)`, []string{"MemberRemoved app-1-" + uuid1 + ": did not rejoin in time", "MemberRemoved app-2-" + uuid2}},
	{"did not sync", `Group ledger removed members who haven't sent their sync requests: [app-1-` + uuid1 + `]`, []string{"MemberRemoved app-1-" + uuid1 + ": did not sync in time"}},
	{"empty", `Group ledger with generation 5 is now empty (__consumer_offsets-7)`, []string{"GenerationStarted 5", "-> Empty"}},
	{"dead", `Group ledger transitioned to Dead in generation 5`, []string{"-> Dead", "GroupRemoved"}},
	{"first join", `Dynamic member with unknown member id joins group ledger in Empty state. Created a new member id app-1-` + uuid1 + ` and request the member to rejoin with this id.`, []string{"ReplySent JoinGroup #1 to app-1-" + uuid1 + " MEMBER_ID_REQUIRED"}},
	{"pending joins", `Pending dynamic member with id app-1-` + uuid1 + ` joins group ledger in Stable state. Adding to the group now.`, []string{"MemberAdded app-1-" + uuid1}},
	{"KIP-848 join", `[GroupId ledger] Member m-1 joins the consumer group using the consumer protocol.`, []string{"GroupListed type consumer", "MemberAdded m-1"}},
	{"KIP-848 epoch", `[GroupId ledger] Bumped group epoch to 7 with metadata hash 123.`, []string{"EpochBumped epoch 7"}},
	{"KIP-848 state", `[GroupId ledger] Member m-1 new assignment state: epoch=7, previousEpoch=6, state=STABLE, assignedPartitions=[orders-0, orders-1].`, []string{"MemberReconciled m-1 epoch 6 -> 7 stable has orders-0,1"}},
	{"KIP-848 fenced", `[GroupId ledger] Member m-1 fenced from the group because the member session expired.`, []string{"MemberRemoved m-1: session expired"}},
	{"KIP-848 slow", `[GroupId ledger] Member m-1 fenced from the group because it failed to transition from epoch 6 within 300000ms.`, []string{"MemberRemoved m-1: did not give partitions up in time"}},
	{"Java joins", `04:05:06.789 [main] INFO o.a.k.c.c.i.AbstractCoordinator - [Consumer clientId=app-1, groupId=ledger] (Re-)joining group`, []string{"ClientStateChanged app-1 UNJOINED -> REBALANCING"}},
	{"Java joined", `INFO [Consumer instanceId=i-1, clientId=app-1, groupId=ledger] Successfully joined group with generation Generation{generationId=7, memberId='app-1-` + uuid1 + `', protocol='range'}`, []string{"MemberAdded app-1-" + uuid1, "GenerationStarted 7"}},
	{"Java leads", `[Consumer clientId=app-1, groupId=ledger] Finished assignment for group at generation 7: {app-1-` + uuid1 + `=Assignment(partitions=[orders-0, orders-1]), app-2-` + uuid2 + `=Assignment(partitions=[pay-2])}`, []string{"app-1-" + uuid1 + ": orders-0,1; app-2-" + uuid2 + ": pay-2"}},
	{"Java revokes", `[Consumer clientId=app-1, groupId=ledger] Revoke previously assigned partitions [orders-0, orders-1]`, []string{"ClientRevoked app-1: orders-0,1"}},
	{"Java leaves", `[Consumer clientId=app-1, groupId=ledger] Member app-1-` + uuid1 + ` sending LeaveGroup request to coordinator b2:9092 (id: 2147483645 rack: null) due to consumer poll timeout has expired.`, []string{"MemberRemoved app-1-" + uuid1 + `: member left client says "consumer poll timeout has expired."`}},
	{"Java coordinator", `[Consumer clientId=app-1, groupId=ledger] Discovered group coordinator b2:9092 (id: 2147483645 rack: null)`, []string{"CoordinatorFound app-1: broker 2"}},
	{"Java lost coordinator", `[Consumer clientId=app-1, groupId=ledger] Group coordinator b2:9092 (id: 2147483645 rack: null) is unavailable or invalid due to cause: session timed out without receiving a heartbeat response. isDisconnected: false. Rediscovery will be attempted.`, []string{"CoordinatorLost app-1: session timed out"}},
	{"Java commit", `[Consumer clientId=app-1, groupId=ledger] Offset commit failed on partition orders-3 at offset 1234: The coordinator is not aware of this member.`, []string{"OffsetsRefused", "UNKNOWN_MEMBER_ID", "orders-3=1234"}},
	{"Java KIP-848", `[Consumer clientId=app-1, groupId=ledger] Member m-1 with epoch 5 transitioned from RECONCILING to STABLE.`, []string{"ClientStateChanged app-1 UNJOINED -> STABLE as m-1 generation 5"}},
	{"librdkafka joins", `%7|1764475506.789|JOIN|rdkafka#consumer-1| [thrd:main]: Group "ledger": join with 2 subscribed topic(s)`, []string{"ClientStateChanged rdkafka#consumer-1 UNJOINED -> REBALANCING"}},
	{"librdkafka rebalance", `%7|1764475506.789|HEARTBEAT|rdkafka#consumer-1| [thrd:main]: Group "ledger" heartbeat error response in state up (join-state steady, 3 partition(s) assigned): Broker: Group rebalance in progress`, []string{"RebalanceStarted"}},
	{"librdkafka poll", `%4|1764475506.789|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Group "ledger": Application maximum poll interval (300000ms) exceeded by 88ms (adjust max.poll.interval.ms for long-running message processing): leaving group`, []string{"max.poll.interval.ms has passed"}},
	{"kafka-python", `2026-11-30 04:05:06,789 INFO kafka.coordinator Successfully joined group ledger with generation 9`, []string{"GenerationStarted 9"}},
	{"aiokafka", `INFO:aiokafka.consumer.group_coordinator:Joined group 'ledger' (generation 9) with member_id aiokafka-0.8.1-` + uuid1, []string{"MemberAdded aiokafka-0.8.1-" + uuid1, "GenerationStarted 9"}},
	{"franz-go", `[INFO] joined, balancing group; group: ledger, member_id: kgo-` + uuid1 + `, generation: 4, balance_protocol: cooperative-sticky, leader: true`, []string{"MemberAdded kgo-" + uuid1, "GenerationStarted 4", "LeaderElected kgo-" + uuid1}},
	{"franz-go as JSON", `{"level":"info","ts":1764475506.789,"msg":"synced","group":"ledger","assigned":"orders[0 1 2]"}`, []string{"ClientAssigned client", "orders-0,1,2"}},
	{"kafkajs", `{"level":"INFO","timestamp":"2026-11-30T04:05:06.789Z","logger":"kafkajs","message":"[ConsumerGroup] Consumer has joined the group","groupId":"ledger","memberId":"app-` + uuid1 + `","leaderId":"app-` + uuid1 + `","isLeader":true,"memberAssignment":{"orders":[0,1]},"groupProtocol":"RoundRobinAssigner","duration":3032}`, []string{"MemberAdded app-" + uuid1, "ClientAssigned app", "orders-0,1", "-> Stable"}},
	{"docker", `{"log":"[2026-11-30 04:05:06,789] INFO [GroupCoordinator 1]: Member m-9 in group ledger has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)\n","stream":"stdout","time":"2026-11-30T04:05:06.790Z"}`, []string{"MemberRemoved m-9: session expired"}},
	{"kubernetes", `kafka-0 2026-11-30T04:05:06.790Z [2026-11-30 05:05:06,789] INFO [GroupCoordinator 1]: Member m-9 in group ledger has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)`, []string{"MemberRemoved m-9: session expired"}},
	{"syslog, coloured, CRLF", "Nov 30 04:05:06 host kafka[12]: \x1b[32mINFO\x1b[0m [GroupCoordinator 1]: Member m-9 in group ledger has failed, removing it from the group\r", []string{"MemberRemoved m-9: session expired"}},
	{"quoted in a letter", `> Member m-9 in group ledger has failed, removing it from the group`, []string{"MemberRemoved m-9: session expired"}},
	{"cut", `[2026-11-30 04:05:06,789] INFO [GroupCoordinator 1]: Preparing to rebalance group ledger in state PreparingRebalance with old generation 3 (__consumer_offsets-7) (reas`, []string{"RebalanceStarted generation 3 ends"}},
}

func TestEachSourceIsUnderstood(t *testing.T) {
	for _, c := range linesOfSources {
		t.Run(c.name, func(t *testing.T) {
			r := read(c.line)
			got := facts(r)
			if r.Counts.Understood != 1 || r.Counts.Unknown != 0 {
				t.Errorf("%+v of %s", r.Counts, c.line)
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("nothing says %q:\n%s", want, got)
				}
			}
			for _, e := range r.Events {
				if e.Truth != event.Inferred {
					t.Errorf("%s is not said to be inferred", e)
				}
				if e.Group != "ledger" {
					t.Errorf("%s is of group %q", e, e.Group)
				}
			}
		})
	}
}

func TestTimesAreRead(t *testing.T) {
	const want = 1796011506789 // 2026-11-30 04:05:06.789 UTC
	for _, head := range []string{"[2026-11-30 04:05:06,789] INFO", "2026-11-30T04:05:06.789Z", "2026-11-30 06:05:06.789 +0200", "2026/11/30 04:05:06.789", "30/Nov/2026:04:05:06.789 +0000",
		"1796011506789", "%7|1796011506.789|JOIN|", "26/11/30 04:05:06.789 INFO", "30 Nov 2026 04:05:06,789", "kafka-0 2026-11-30T04:05:06.789Z [2026-11-30 09:09:09,999]"} {
		r := read(head + " Member m-9 in group ledger has failed, removing it from the group")
		if len(r.Events) == 0 || r.Events[0].AtMs != want || !r.Timed {
			t.Errorf("%q is read as %v", head, r.Events)
		}
	}
}

func TestLinesThatWereWrappedAreJoined(t *testing.T) {
	for _, text := range []string{
		"[2026-11-30 04:05:06,789] INFO [GroupCoordinator 1]: Preparing to rebalance group led\nger in state PreparingRebalance with old generation 3 (__consumer_offsets-7) (reason: Adding new\n member m-9 with group instance id None; client reason: not provided)",
		"[2026-11-30 04:05:06,789] INFO [GroupCoordinator 1]: Preparing to rebalance group ledger\n  in state PreparingRebalance with old generation 3 (__consumer_offsets-7)\n  (reason: Adding new member m-9 with group instance id None; client reason: not provided)",
	} {
		r := read(text)
		if got := facts(r); !strings.Contains(got, "ledger RebalanceStarted generation 3 ends: new member m-9") || r.Counts.Unknown != 0 {
			t.Errorf("%+v:\n%s", r.Counts, got)
		}
	}
}

func TestSourcesInAnyOrderAreSortedByTime(t *testing.T) {
	r := read(`2026-11-30T04:05:09Z Stabilized group ledger generation 4 (__consumer_offsets-7) with 1 members
2026-11-30T04:05:06Z Preparing to rebalance group ledger in state PreparingRebalance with old generation 3 (__consumer_offsets-7) (reason: Adding new member m-9 with group instance id None; client reason: not provided)`)
	got := facts(r)
	if strings.Index(got, "RebalanceStarted") > strings.Index(got, "GenerationStarted 4") {
		t.Errorf("out of order:\n%s", got)
	}
	last := int64(0)
	for i, e := range r.Events {
		if e.AtMs < last || e.Seq != int64(i)+1 {
			t.Errorf("event %d: %s", i, e)
		}
		last = e.AtMs
	}
}

// TestAWaitIsKnownByItsEnd: nobody writes down whom a rebalance waits for; but a line that a member failed, while it lasts, says so.
func TestAWaitIsKnownByItsEnd(t *testing.T) {
	r := read(`[2026-11-30 04:05:06,000] INFO [GroupCoordinator 1]: Preparing to rebalance group ledger in state PreparingRebalance with old generation 3 (__consumer_offsets-7) (reason: Adding new member m-9 with group instance id None; client reason: not provided)
[2026-11-30 04:05:41,000] INFO [GroupCoordinator 1]: Member m-2 in group ledger has failed, removing it from the group
[2026-11-30 04:05:41,002] INFO [GroupCoordinator 1]: Stabilized group ledger generation 4 (__consumer_offsets-7) with 2 members
[2026-11-30 04:05:41,009] INFO [GroupCoordinator 1]: Assignment received from leader m-1 for group ledger for generation 4. The group has 2 members, 0 of which are static.`)
	for _, e := range r.Events {
		if a, ok := e.Body.(event.AwaitedSeen); ok {
			if len(a.Awaited) != 1 || a.Awaited[0].Member != "m-2" || !a.Awaited[0].Sure || a.Awaited[0].ExpiresMs-e.AtMs != 35000 || len(a.Joined) != 2 {
				t.Errorf("%s", e)
			}
			return
		}
	}
	t.Errorf("nobody is awaited:\n%s", facts(r))
}

func TestAParserTellsLineByLine(t *testing.T) {
	p := brokerlog.New(brokerlog.Config{})
	list := p.Line(5, `[GroupCoordinator 3]: Member m-9 in group ledger has failed, removing it from the group`)
	if len(list) == 0 || p.Broker() != 3 || list[0].AtMs != 5 || list[len(list)-1].Broker != 3 {
		t.Errorf("broker %d: %v", p.Broker(), list)
	}
	if list = p.Line(6, "nothing of interest"); len(list) != 0 || p.Counts() != (brokerlog.Counts{Lines: 2, Understood: 1, Unknown: 1}) {
		t.Errorf("%v %+v", list, p.Counts())
	}
}

func TestWhatIsNotUnderstoodIsKeptAndCounted(t *testing.T) {
	r := read("the group did something\n\n\tat org.example.Foo.bar(Foo.java:12)\n[2026-11-30 04:05:06,000] INFO [Log partition=orders-0] Rolled (kafka.log.Log)\nfoo")
	want := brokerlog.Counts{Lines: 5, Rest: 3, Unknown: 2}
	if r.Counts != want || len(r.Unknown) != 2 || r.Unknown[0] != (brokerlog.Line{Number: 1, Text: "the group did something"}) || r.Unknown[1].Number != 5 {
		t.Errorf("%+v %v", r.Counts, r.Unknown)
	}
}
