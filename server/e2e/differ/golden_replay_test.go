//go:build interop

package differ

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// replay sends a trace to one broker, in real time, and keeps what is answered beside what the trace says.
type replay struct {
	*side
	trace *trace
	began time.Time
	// late is by how much real time is behind the trace's: what was answered later moves all that follows. latest is by how
	// much one request or answer was.
	late, latest time.Duration
	members      map[string]string // the trace's member ids and the broker's
	pids         map[int64]int64
	out          map[int64]sent // not answered yet
	last         time.Time
	chosen       int      // the ids that were given back
	results      []answer // what the broker answered
	golden       []answer // what the trace says of the same requests
}

type sent struct {
	actor   string
	request kmsg.Request
	atMs    int64
}

// unsent are not put to the broker: where topics and coordinators are is another cluster's business. So is what a
// coordinator answers that is not ready yet (moving).
var unsent = []int16{3, 10, 18}

func replayed(address, group string, t *trace) *replay {
	r := &replay{side: newSide(address, group), trace: t, members: map[string]string{}, pids: map[int64]int64{}, out: map[int64]sent{}}
	defer r.close()
	defer func() {
		if b, isBroken := recover().(broken); isBroken {
			r.keep("the script can be sent", []string{b.why}, []string{"it can"})
		}
	}()
	r.began = time.Now()
	for _, m := range t.moves {
		if slices.Contains(unsent, m.request.Key()) || t.moving[m.call] {
			continue
		}
		if m.reply == nil {
			r.put(m)
		} else {
			r.compare(m)
		}
	}
	return r
}

func (r *replay) due(atMs int64) time.Time {
	return r.began.Add(time.Duration(atMs)*time.Millisecond + r.late)
}

// put sends a request at its time. Requests that others sent just before have the time to arrive first.
func (r *replay) put(m move) {
	time.Sleep(time.Until(r.due(m.atMs)))
	if gap := 40*time.Millisecond - time.Since(r.last); gap > 0 && len(r.out) > 0 {
		time.Sleep(gap)
	}
	q := copied(m.request)
	r.translate(reflect.ValueOf(q).Elem(), "")
	r.send(m.actor, q)
	r.last = time.Now()
	r.behind(m.atMs)
	r.out[m.call] = sent{m.actor, q, m.atMs}
}

// behind moves everything that follows where real time is late.
func (r *replay) behind(atMs int64) {
	if late := time.Since(r.due(atMs)); late > 0 {
		r.late, r.latest = r.late+late, max(r.latest, late)
	}
}

// compare waits for an answer: not before its time, where it was held for long, and at its time.
func (r *replay) compare(m move) {
	s, ok := r.out[m.call]
	if !ok {
		return
	}
	title := fmt.Sprintf("%s: %s of %s at %s", r.trace.name, kmsg.NameForKey(m.request.Key()), s.actor, time.Duration(s.atMs)*time.Millisecond)
	if early := time.Until(r.due(m.atMs).Add(-600 * time.Millisecond)); early > 0 {
		time.Sleep(early)
		if held, err := r.by(s.actor).Held(time.Millisecond); !held || err != nil {
			r.keep(title+", held", []string{"answered early"}, []string{"held"})
		}
	}
	a, err := r.by(s.actor).Receive(r.sent[s.actor], s.request, max(0, time.Until(r.due(m.atMs)))+6*time.Second)
	if err != nil {
		r.stop("%s: %v", title, err)
	}
	r.behind(m.atMs)
	delete(r.out, m.call)
	if j, isJoin := m.reply.(*kmsg.JoinGroupResponse); isJoin {
		a = r.fitting(s, j.MemberID, a)
	}
	r.learn(m.reply, a)
	said := copiedReply(m.reply, m.request.GetVersion())
	r.translate(reflect.ValueOf(said).Elem(), "")
	r.keep(title, r.canonical(a), r.canonical(said))
}

func (r *replay) keep(title string, got, want []string) {
	r.results = append(r.results, answer{title, got})
	r.golden = append(r.golden, answer{title, want})
}

// learn keeps which id of the broker's stands for which of the trace's.
func (r *replay) learn(said, got kmsg.Response) {
	switch g := got.(type) {
	case *kmsg.JoinGroupResponse:
		w := said.(*kmsg.JoinGroupResponse)
		if w.MemberID != "" && g.MemberID != "" && r.members[w.MemberID] == "" {
			r.members[w.MemberID] = g.MemberID
			r.names[g.MemberID] = fmt.Sprintf("m%d", len(r.names)+1)
		}
	case *kmsg.InitProducerIDResponse:
		w := said.(*kmsg.InitProducerIDResponse)
		if w.ErrorCode == 0 && g.ErrorCode == 0 {
			r.pids[w.ProducerID] = g.ProducerID
		}
	}
}

var anID = regexp.MustCompile(`"[^"]*-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"`)

// canonical are an answer's fields; ids that no answer has given to their client yet are alike.
func (r *replay) canonical(a kmsg.Response) []string {
	lines := r.fields("  ", reflect.ValueOf(a).Elem())
	for i, l := range lines {
		lines[i] = anID.ReplaceAllString(l, `"<new member>"`)
	}
	return lines
}

// translate puts the broker's names in the place of the trace's: groups, transactional ids, member ids, producer ids.
func (r *replay) translate(v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.translate(v.Elem(), field)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type.Name() != "Tags" {
				r.translate(v.Field(i), f.Name)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if v.Type().Elem().Kind() == reflect.Uint8 {
				return
			}
			r.translate(v.Index(i), field)
		}
	case reflect.String:
		v.SetString(r.inPlaceOf(field, v.String()))
	case reflect.Int64:
		if pid, ok := r.pids[v.Int()]; ok && field == "ProducerID" && v.Int() >= 0 {
			v.SetInt(pid)
		}
	}
}

func (r *replay) inPlaceOf(field, text string) string {
	switch {
	case text == "":
		return text
	case slices.Contains([]string{"Group", "Groups", "TransactionalID", "TransactionalIDs"}, field):
		return r.group + "." + text
	case r.members[text] != "":
		return r.members[text]
	case r.trace.members[text]:
		return "<new member>"
	case strings.HasPrefix(field, "Reason"):
		return "" // it names member ids
	}
	return text
}
