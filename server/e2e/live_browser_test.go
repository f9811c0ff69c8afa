package e2e

import (
	"strings"
	"testing"
	"time"

	"grouplab/server/app"
)

// TestLivePageNamesTheGhost: two real kcat members on the live page; one is killed with SIGKILL. The headline names the
// dead one at once, before the coordinator can know, and after its session the group is Stable again without it.
func TestLivePageNamesTheGhost(t *testing.T) {
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 3, Set: quick,
		Topics: []app.Topic{{Name: "orders", Partitions: 6}}})
	const group = `watched<b>group</b>`
	options := []string{"session.timeout.ms=15000", "heartbeat.interval.ms=500"}
	stays := joinKcat(t, s.KafkaAddrs(), group, "orders", append(options, "client.id=stays")...)
	dies := joinKcat(t, s.KafkaAddrs(), group, "orders", append(options, "client.id=dies")...)
	b := open(t, "http://"+s.HTTPAddr()+"/live", 1440, 900)
	headline := `document.querySelector("#part-headline").innerText`
	b.until("a Stable group of two", headline+`.includes("Stable") && document.querySelector("#part-groups").innerText.includes("2 members")`, 40*time.Second)
	if got := b.text("#part-headline"); !strings.Contains(got, group) {
		t.Errorf("the headline does not carry the group's name as it is: %s", got)
	}
	if eval[bool](b, `!!document.querySelector("#part-headline b b, #part-groups b b")`) {
		t.Error("markup in a group's name became markup on the page")
	}
	if err := dies.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	b.until("the headline to name the ghost", headline+`.includes("dies") && `+headline+`.includes("dead")`, 3*time.Second)
	b.until("a Stable group of one", headline+`.includes("Stable") && !`+headline+`.includes("dead") && /\b1 member\b/.test(document.querySelector("#part-groups").innerText)`, 30*time.Second)
	eventually(t, 10*time.Second, func() error { return owns(stays, 6) })
	b.quiet()
}

// TestLivePageKillsABroker: the coordinator of a group is killed from the page and started again; the page shows the next
// broker own the group, Stable again.
func TestLivePageKillsABroker(t *testing.T) {
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 3,
		Set: append([]string{"broker.session.timeout.ms=1500"}, quick...), Topics: []app.Topic{{Name: "orders", Partitions: 6}}})
	member := joinKcat(t, s.KafkaAddrs(), "moved", "orders", "session.timeout.ms=10000", "client.id=moved-1")
	b := open(t, "http://"+s.HTTPAddr()+"/live", 1440, 900)
	machine := `document.querySelector("#part-machine").closest("section, div").innerText + document.querySelector("#part-shelves").innerText`
	b.until("a Stable group", `document.querySelector("#part-headline").innerText.includes("Stable")`, 40*time.Second)
	owner := `([...document.querySelectorAll("#part-ownership li")].find(li => li.innerText.includes("owned"))?.innerText.match(/\d+/)[0] ?? "")`
	b.until("a broker that owns the group's partition", owner, 20*time.Second)
	coordinator := eval[string](b, owner)
	if coordinator == "" {
		t.Fatalf("no broker owns the group's partition: %s, %s", b.text("#part-ownership"), eval[string](b, machine))
	}
	b.click(`[data-do=kill-broker][data-arg="` + coordinator + `"]`)
	b.until("another broker to own the group's partition",
		`[...document.querySelectorAll("#part-ownership li")].some(li => li.innerText.includes("owned") && !li.innerText.includes("broker `+coordinator+`"))`, 30*time.Second)
	b.until("the group to be Stable at its next coordinator", `document.querySelector("#part-headline").innerText.includes("Stable")`, 30*time.Second)
	b.until("the button that starts the broker again", `document.querySelector('[data-do=restart-broker][data-arg="`+coordinator+`"]')`, 20*time.Second)
	b.click(`[data-do=restart-broker][data-arg="` + coordinator + `"]`)
	b.until("the broker to run again", `document.querySelector('[data-do=kill-broker][data-arg="`+coordinator+`"]')`, 20*time.Second)
	eventually(t, 20*time.Second, func() error { return owns(member, 6) })
	b.quiet()
}
