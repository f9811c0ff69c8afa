package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
)

// calmGroups makes so many Stable groups of one member each, whose session outlasts the test. What they say comes over one
// connection to each coordinator.
func calmGroups(t testing.TB, s *app.Server, count int) {
	t.Helper()
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version = 4
	for n := range count {
		find.CoordinatorKeys = append(find.CoordinatorKeys, fmt.Sprintf("calm-%03d", n))
	}
	seed := dial(t, s.KafkaAddrs()[0])
	at := map[string]*wire{}
	for _, c := range coordinators(t, seed, find) {
		address := fmt.Sprintf("%s:%d", c.Host, c.Port)
		if at[address] == nil {
			at[address] = dial(t, address)
		}
		settle(t, at[address], c.Key)
	}
}

// coordinators waits until each group has one: partitions of __consumer_offsets are loaded first.
func coordinators(t testing.TB, w *wire, find *kmsg.FindCoordinatorRequest) (list []kmsg.FindCoordinatorResponseCoordinator) {
	t.Helper()
	eventually(t, time.Minute, func() error {
		list = ask[*kmsg.FindCoordinatorResponse](w, find).Coordinators
		for _, c := range list {
			if c.ErrorCode != 0 {
				return fmt.Errorf("the coordinator of %s: %d", c.Key, c.ErrorCode)
			}
		}
		return nil
	})
	return list
}

// settle joins a group alone and takes an assignment of its own making.
func settle(t testing.TB, w *wire, group string) {
	t.Helper()
	join := joinOf(group)
	join.SessionTimeoutMillis = 1_800_000
	var joined *kmsg.JoinGroupResponse
	eventually(t, time.Minute, func() error {
		joined = ask[*kmsg.JoinGroupResponse](w, join)
		join.MemberID = joined.MemberID
		if joined.ErrorCode != 0 {
			return fmt.Errorf("joining %s: %d", group, joined.ErrorCode)
		}
		return nil
	})
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID = group, joined.Generation, joined.MemberID
	mine := kmsg.NewSyncGroupRequestGroupAssignment()
	mine.MemberID = joined.MemberID
	sync.GroupAssignment = append(sync.GroupAssignment, mine)
	if r := ask[*kmsg.SyncGroupResponse](w, sync); r.ErrorCode != 0 {
		t.Fatalf("syncing %s: %d", group, r.ErrorCode)
	}
}

// TestAGhostAmongTwoHundredGroups is what GroupLab is for: somewhere among 200 groups a consumer is killed without a word, and
// another one joins. The page's own words, first in the list and then on the stage, say who is waited for, until when, and why,
// while somebody looks at another group.
func TestAGhostAmongTwoHundredGroups(t *testing.T) {
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 3, Set: append([]string{"group.max.session.timeout.ms=1800000"}, quick...),
		Topics: []app.Topic{{Name: "orders", Partitions: 6}}})
	calmGroups(t, s, 199)
	options := func(client string) []string {
		return []string{"session.timeout.ms=300000", "heartbeat.interval.ms=500", "max.poll.interval.ms=600000", "client.id=" + client}
	}
	stays := joinKcat(t, s.KafkaAddrs(), "zz-payments", "orders", options("stays")...)
	dies := joinKcat(t, s.KafkaAddrs(), "zz-payments", "orders", options("dies")...)
	b := open(t, "http://"+s.HTTPAddr()+"/live/#group=calm-007", 1440, 900)
	row := func(n int) string {
		return fmt.Sprintf(`(document.querySelectorAll("#group-list .group")[%d]?.innerText ?? "").replace(/\s+/g, " ")`, n)
	}
	find := `(() => { const f = document.querySelector("#group-search"); f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})) })()`
	b.until("200 groups", `document.querySelector("#list-count")?.innerText.includes("200 groups")`, time.Minute)
	b.until("the group on stage", `document.querySelector("#part-headline")?.innerText.includes("calm-007")`, 20*time.Second)
	eval[any](b, fmt.Sprintf(find, "zz-pay"))
	b.until("the one among them, Stable", row(0)+`.includes("zz-payments") && `+row(0)+`.includes("2 members") && `+row(0)+`.includes("Stable")`, time.Minute)
	eval[any](b, fmt.Sprintf(find, ""))
	eventually(t, time.Minute, func() error { return owns(stays, 3) })
	b.until("calm groups first", row(0)+`.includes("calm-000")`, 20*time.Second)

	if err := dies.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Before anybody waits: the first of 200, though its group is Stable.
	b.until("the list to name the ghost, and when it is noticed",
		row(0)+`.includes("zz-payments") && `+row(0)+`.match(/dies·\w{4} is dead, noticed in \d min( \d\d? s)? at most, when its session runs out/)`, 20*time.Second)
	joinKcat(t, s.KafkaAddrs(), "zz-payments", "orders", options("comes")...)
	b.until("the list to name the ghost, its deadline and the cause",
		row(0)+`.match(/zz-payments[^]*Preparing[^]*waits for dies·\w{4} \(killed\), \d min( \d\d? s)? at most · because comes·\w{4} joined/)`, 20*time.Second)
	b.until("the others to stand", row(1)+`.includes("calm-000") && `+row(1)+`.includes("Stable")`, 20*time.Second)
	if got := b.text("#part-headline"); !strings.Contains(got, "calm-007") {
		t.Errorf("another group came on stage by itself: %s", got)
	}

	b.click(`#group-list .group-name`)
	headline := `document.querySelector("#part-headline").innerText.replace(/\s+/g, " ")`
	b.until("the headline to name the ghost, its deadline and the cause",
		headline+`.match(/^zz-payments .*PreparingRebalance.* Waiting for 1 of 3: dies·\w{4} \(killed\) will end in \d min( \d\d? s)? when the session of dies·\w{4} runs out ?· at the latest in .*began because comes·\w{4} joined/)`, 20*time.Second)
	for part, words := range map[string]string{
		"#part-shelves":  `/2 of 3[^]*dies·\w{4} \?/`,
		"#part-clients":  `/dies·\w{4}[^]*(gone|dead)/`,
		"#part-timeline": `/dies·\w{4}/`,
	} {
		b.until("the ghost in "+part, `document.querySelector("`+part+`").textContent.match(`+words+`)`, 20*time.Second)
	}
	b.quiet()
}
