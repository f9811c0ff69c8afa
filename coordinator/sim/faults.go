package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
)

// trick is what the network does to a message besides losing it.
type trick uint8

const (
	delays     trick = iota // it takes longer
	duplicates              // it arrives twice
)

// lateRule delays or duplicates the next messages of one kind.
type lateRule struct {
	dropRule
	trick trick
	ms    int64
}

// link is the network between one client and one broker.
type link struct {
	consumer int
	broker   int32
}

// Drop loses the next count requests of one API that a consumer sends; reply loses the answers instead. It takes the
// place of what was said before about the same messages; 0 lets all through again.
func (w *World) Drop(consumer string, api int16, count int, reply bool) error {
	rule, err := w.rule(consumer, api, count, reply)
	if err != nil {
		return err
	}
	w.drops = slices.DeleteFunc(w.drops, func(r dropRule) bool { return r.left == 0 || r.same(rule) })
	w.drops = append(w.drops, rule)
	return nil
}

// Delay has the next count requests of one API that a consumer sends take ms milliseconds longer; reply delays the
// answers instead. What is sent behind them on the same connection waits, as on TCP. It takes the place of what was said
// before about the same messages.
func (w *World) Delay(consumer string, api int16, count int, ms int64, reply bool) error {
	return w.late(consumer, api, count, reply, delays, ms)
}

// Duplicate has the next count requests of one API that a consumer sends arrive twice, the second time ms milliseconds
// later, whatever was sent meanwhile: a proxy tries again. The client knows nothing of it and throws the second answer
// away.
func (w *World) Duplicate(consumer string, api int16, count int, ms int64) error {
	return w.late(consumer, api, count, false, duplicates, ms)
}

func (w *World) late(consumer string, api int16, count int, reply bool, t trick, ms int64) error {
	rule, err := w.rule(consumer, api, count, reply)
	if err != nil {
		return err
	}
	if ms < 0 || ms > 3_600_000 {
		return fmt.Errorf("%d ms is out of bounds: 0 ms to 1 h", ms)
	}
	w.lates = slices.DeleteFunc(w.lates, func(r lateRule) bool { return r.left == 0 || r.trick == t && r.same(rule) })
	w.lates = append(w.lates, lateRule{rule, t, ms})
	return nil
}

func (w *World) rule(consumer string, api int16, count int, reply bool) (dropRule, error) {
	c, err := w.named(consumer)
	switch {
	case err != nil:
		return dropRule{}, err
	case kmsg.NameForKey(api) == "Unknown":
		return dropRule{}, fmt.Errorf("there is no API with key %d", api)
	case count < 0 || count > 1_000_000:
		return dropRule{}, fmt.Errorf("%d messages cannot be dropped, delayed or doubled: 0 to 1 000 000", count)
	}
	return dropRule{c.index, api, reply, count}, nil
}

func (r dropRule) same(o dropRule) bool {
	return r.consumer == o.consumer && r.api == o.api && r.reply == o.reply
}

// Cut parts a consumer from a broker: whatever they send each other is lost until Heal. Neither is told; a client finds
// out when a request times out.
func (w *World) Cut(consumer string, broker int32) error {
	l, err := w.link(consumer, broker)
	if err == nil && slices.Contains(w.cuts, l) {
		err = fmt.Errorf("%s and broker %d are cut off from each other already", consumer, broker)
	}
	if err == nil {
		w.cuts = append(w.cuts, l)
	}
	return err
}

// Heal ends a Cut.
func (w *World) Heal(consumer string, broker int32) error {
	l, err := w.link(consumer, broker)
	if err == nil && !slices.Contains(w.cuts, l) {
		err = fmt.Errorf("%s and broker %d are not cut off from each other", consumer, broker)
	}
	if err == nil {
		w.cuts = slices.DeleteFunc(w.cuts, func(o link) bool { return o == l })
	}
	return err
}

func (w *World) link(consumer string, broker int32) (link, error) {
	c, err := w.named(consumer)
	if err != nil {
		return link{}, err
	}
	return link{c.index, broker}, w.checkBroker(broker)
}

// loses decides whether the network loses a message: by a cut or a rule first, then by chance.
func (w *World) loses(c *consumer, broker int32, api int16, reply bool) bool {
	if slices.Contains(w.cuts, link{c.index, broker}) {
		return true
	}
	for i := range w.drops {
		if w.drops[i].strikes(c, api, reply) {
			return true
		}
	}
	return w.cfg.LossPPM > 0 && w.chance(1_000_000) < int(w.cfg.LossPPM)
}

// strikes tells whether a rule is about a message, and counts it.
func (r *dropRule) strikes(c *consumer, api int16, reply bool) bool {
	if r.left == 0 || r.consumer != c.index || r.api != api || r.reply != reply {
		return false
	}
	r.left--
	return true
}

// delay is how much longer a message takes than the latency.
func (w *World) delay(c *consumer, api int16, reply bool) int64 {
	for i := range w.lates {
		if r := &w.lates[i]; r.trick == delays && r.strikes(c, api, reply) {
			return r.ms
		}
	}
	return 0
}

// duplicate sends a request a second time, if there is a rule for that.
func (w *World) duplicate(c *consumer, k *call, n *conn) {
	for i := range w.lates {
		r := &w.lates[i]
		if r.trick != duplicates || !r.strikes(c, k.api(), false) {
			continue
		}
		w.lastCall++
		again := *k
		again.id, again.use = w.lastCall, repeat
		w.calls[again.id] = &again
		n.calls = append(n.calls, again.id)
		arrives := w.nowMs + w.cfg.LatencyMs + r.ms
		w.agenda.add(arrives, reaches, again.id)
		if !again.quiet() {
			again.sent = w.emitFor(k.sent, 0, c.cfg.Group, event.RequestSent{Client: c.cfg.Name, Request: again.id, API: again.api(), To: n.broker,
				ArrivesMs: arrives, DeadlineMs: k.deadlineMs, Member: c.memberID, CopyOf: k.id})
		}
		return
	}
}

// Writes are what coordinators append, by the names that FailAppends and SlowAppends take; "" stands for any of them.
func Writes() []string {
	return []string{"group", "offsets", "transactional-offsets", "tombstones", "transaction", "marker"}
}

// AppendErrors are the errors that an append can fail with: what Kafka's ReplicaManager may answer.
func AppendErrors() []string {
	var names []string
	for _, code := range appendErrors {
		names = append(names, event.CodeName(code))
	}
	return names
}

var appendErrors = []int16{kerr.CorruptMessage.Code, kerr.UnknownTopicOrPartition.Code, kerr.InvalidFetchSize.Code, kerr.NotLeaderForPartition.Code,
	kerr.RequestTimedOut.Code, kerr.MessageTooLarge.Code, kerr.NetworkException.Code, kerr.RecordListTooLarge.Code,
	kerr.NotEnoughReplicas.Code, kerr.NotEnoughReplicasAfterAppend.Code, kerr.KafkaStorageError.Code}

// FailAppends has the next count appends of coordinators fail with an error of AppendErrors: refused at once, or late:
// written and replicated, and only the answer fails. what is one of Writes. It takes the place of what was said before
// about the same appends; a count of 0 ends that.
func (w *World) FailAppends(what, failure string, count int, late bool) error {
	for _, code := range appendErrors {
		if event.CodeName(code) == failure {
			return w.fault(cluster.Fault{What: what, Count: count, Code: code, Late: late})
		}
	}
	return fmt.Errorf("no append fails with %q; there are %s", failure, strings.Join(AppendErrors(), ", "))
}

// SlowAppends has the answers to the next count appends of coordinators come ms milliseconds after they were written.
// Beyond offsets.commit.timeout.ms they are REQUEST_TIMED_OUT. It takes the place of what was said before about the same
// appends.
func (w *World) SlowAppends(what string, ms int64, count int) error {
	if ms < 1 || ms > 3_600_000 {
		return fmt.Errorf("an answer cannot be kept back for %d ms: 1 ms to 1 h", ms)
	}
	return w.fault(cluster.Fault{What: what, Count: count, HoldMs: ms})
}

func (w *World) fault(f cluster.Fault) error {
	switch {
	case f.What != "" && !slices.Contains(Writes(), f.What):
		return fmt.Errorf("no coordinator writes %q; there are %s", f.What, strings.Join(Writes(), ", "))
	case f.Count < 0 || f.Count > 1_000_000:
		return fmt.Errorf("%d appends are out of bounds: 0 to 1 000 000", f.Count)
	}
	f.What = strings.ReplaceAll(f.What, "-", " ")
	w.drive.SetFault(w.nowMs, f)
	w.take()
	return nil
}

// MoveLeader makes another in-sync replica the leader of a partition, while the old leader lives on.
func (w *World) MoveLeader(topic string, partition, to int32) error {
	if err := w.checkBroker(to); err != nil {
		return err
	}
	defer w.because()()
	code, message := w.drive.MoveLeader(w.nowMs, topic, partition, to)
	w.take()
	return refused(code, message)
}

// DeleteTopic deletes a topic with all its data; whatever groups have committed of it goes too.
func (w *World) DeleteTopic(name string) error {
	defer w.because()()
	code, message := w.drive.DeleteTopic(w.nowMs, name)
	w.take()
	return refused(code, message)
}

// Set changes a setting of all coordinators while they run. Timers that run keep their deadlines. In Kafka most of these
// are read when a broker starts; here no broker need start again.
func (w *World) Set(s Setting) error {
	known, _, err := findSetting(s)
	if err != nil {
		return err
	}
	if !known.live {
		return fmt.Errorf("%s cannot be changed while the brokers run: set it before the first topic", s.Name)
	}
	cfg := w.cfg
	cfg.Set = slices.DeleteFunc(slices.Clone(cfg.Set), func(o Setting) bool { return o.Name == s.Name })
	cfg.Set = append(cfg.Set, s)
	d, err := driveConfig(cfg)
	if err != nil {
		return err
	}
	w.cfg = cfg
	w.drive.ConfigChanged(w.nowMs, d.Settings)
	w.take()
	return nil
}
