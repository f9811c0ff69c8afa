//go:build interop

package differ

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/e2e/wire"
)

// parkedAfter is how long an answer may take before its request counts as held; answers come within few milliseconds.
const parkedAfter = 1500 * time.Millisecond

// dataPatience is parkedAfter for questions about records and topics, where nothing is held that ends: a broker that has made
// thousands of topics may take seconds.
const dataPatience = 8 * time.Second

// side is one cluster while one question is put to it. What differs by chance is told under a name: member ids as m1, m2
// in the order of their first appearance.
type side struct {
	address string
	group   string
	conns   map[string]*wire.Conn
	names   map[string]string
	asked   map[string]kmsg.Request // by actor: what was sent last and is looked at later
	sent    map[string]int32        // by actor: the correlation id of what was sent last
	// producers are the producer ids that were given out, in their order.
	producers map[int64]int
	// topicIDs gives names to topic ids, ids has them by topic. sessions are the fetch sessions in the order of their appearance.
	topicIDs map[[16]byte]string
	ids      map[string][16]byte
	sessions map[int32]int
	// made counts the partitions of the topics that were created.
	made map[string]int32
	// all is set where the answer is about everything: then what other questions made is left out.
	all bool
	// wordless is set where of the words to an error only counts whether there are any.
	wordless bool
	// unhurried is set where the question is put once more: then answers are given more time.
	unhurried bool
	// told is what was answered, a line a field.
	told []string
}

func newSide(address, group string) *side {
	return &side{address: address, group: group, conns: map[string]*wire.Conn{}, names: map[string]string{}, asked: map[string]kmsg.Request{}, sent: map[string]int32{}, producers: map[int64]int{},
		topicIDs: map[[16]byte]string{}, ids: map[string][16]byte{}, sessions: map[int32]int{}, made: map[string]int32{}}
}

func (s *side) close() {
	for _, c := range s.conns {
		c.Close()
	}
}

// broken is a panic's value: the question cannot be put. It is caught where the question begins.
type broken struct{ why string }

func (s *side) stop(format string, args ...any) { panic(broken{fmt.Sprintf(format, args...)}) }

// by is the connection of one actor: a client has one at a time, and a held reply blocks what follows.
func (s *side) by(actor string) *wire.Conn {
	c := s.conns[actor]
	if c == nil {
		var err error
		if c, err = wire.Dial(s.address, "differ"); err != nil {
			s.stop("%v", err)
		}
		s.conns[actor] = c
	}
	return c
}

// send puts a request without waiting.
func (s *side) send(actor string, r kmsg.Request) {
	correlation, err := s.by(actor).Send(r)
	if err != nil {
		s.stop("%s: sending %s v%d: %v", actor, kmsg.NameForKey(r.Key()), r.GetVersion(), err)
	}
	s.sent[actor] = correlation
}

// receive reads what a request is answered; it must come.
func (s *side) receive(actor string, r kmsg.Request) kmsg.Response {
	a, err := s.by(actor).Receive(s.sent[actor], r, wire.Patience)
	if err != nil {
		s.stop("%s: the answer to %s v%d: %v", actor, kmsg.NameForKey(r.Key()), r.GetVersion(), err)
	}
	s.nameMembers(a)
	return a
}

// ask does both, as a preparation: the answer is not told.
func (s *side) ask(actor string, r kmsg.Request) kmsg.Response {
	s.send(actor, r)
	return s.receive(actor, r)
}

// tell puts a request and writes down what is answered, that it is held, or that the connection is at its end.
func (s *side) tell(actor string, r kmsg.Request) kmsg.Response {
	correlation, err := s.by(actor).Send(r)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		s.told = append(s.told, titleOf(actor, r)+ended)
		return nil
	}
	if err != nil {
		s.stop("%s: sending %s v%d: %v", actor, kmsg.NameForKey(r.Key()), r.GetVersion(), err)
	}
	s.sent[actor] = correlation
	return s.tellNext(actor, r, parkedAfter)
}

const ended, heldStill = ": the connection ended", ": held"

func titleOf(actor string, r kmsg.Request) string {
	return fmt.Sprintf("%s %s v%d", actor, kmsg.NameForKey(r.Key()), r.GetVersion())
}

// tellAs is tell where the answer comes in another version's layout than the request's.
func (s *side) tellAs(actor string, r kmsg.Request, version int16) {
	s.send(actor, r)
	old := kmsg.RequestForKey(r.Key())
	old.SetVersion(version)
	s.tellNext(actor, old, parkedAfter)
}

// tellNext writes down the answer to a request that was sent.
func (s *side) tellNext(actor string, r kmsg.Request, most time.Duration) kmsg.Response {
	title := titleOf(actor, r)
	if s.wordless {
		most = max(most, dataPatience)
		if s.unhurried {
			most = max(most, wire.Patience)
		}
	}
	a, err := s.by(actor).Receive(s.sent[actor], r, most)
	switch {
	case err == wire.ErrHeld:
		s.told = append(s.told, title+heldStill)
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET):
		s.told = append(s.told, title+ended)
		return nil
	case err != nil:
		s.told = append(s.told, fmt.Sprintf("%s: %v", title, err))
		return nil
	}
	s.told = append(s.told, title+":")
	s.told = append(s.told, s.lines(a)...)
	return a
}

// lines are the fields of an answer. Lists without a meaning in their order are sorted.
func (s *side) lines(a kmsg.Response) []string {
	s.nameMembers(a)
	s.onlyOwn(a)
	s.nameTopics(a)
	if v, ok := a.(*kmsg.ApiVersionsResponse); ok {
		return versionLines(v)
	}
	return s.fields("  ", reflect.ValueOf(a).Elem())
}

// nameMembers gives names to new member ids, in the answer's order.
func (s *side) nameMembers(a kmsg.Response) {
	if j, ok := a.(*kmsg.JoinGroupResponse); ok {
		s.name(j.MemberID)
	}
}

// versionLines tell what is advertised, a line an API.
func versionLines(a *kmsg.ApiVersionsResponse) []string {
	all := []string{fmt.Sprintf("  .ErrorCode = %d", a.ErrorCode), fmt.Sprintf("  .ThrottleMillis = %d", a.ThrottleMillis)}
	for _, k := range a.ApiKeys {
		all = append(all, fmt.Sprintf("  %s: %d to %d", kmsg.NameForKey(k.ApiKey), k.MinVersion, k.MaxVersion))
	}
	for _, f := range a.SupportedFeatures {
		all = append(all, fmt.Sprintf("  supports %s: %d to %d", f.Name, f.MinVersion, f.MaxVersion))
	}
	for _, f := range a.FinalizedFeatures {
		all = append(all, fmt.Sprintf("  has %s: %d to %d", f.Name, f.MinVersionLevel, f.MaxVersionLevel))
	}
	return append(all, fmt.Sprintf("  .ZkMigrationReady = %v", a.ZkMigrationReady))
}

// nameTopics gives names to the ids of new topics.
func (s *side) nameTopics(a kmsg.Response) {
	created, ok := a.(*kmsg.CreateTopicsResponse)
	if !ok {
		return
	}
	for _, t := range created.Topics {
		if t.ErrorCode == 0 {
			s.made[t.Topic] = max(1, t.NumPartitions)
			if t.TopicID != [16]byte{} {
				s.topicIDs[t.TopicID] = "<id of " + s.text(t.Topic) + ">"
			}
		}
	}
}

func (s *side) name(id string) {
	if _, known := s.names[id]; !known && len(id) > 36 {
		s.names[id] = fmt.Sprintf("m%d", len(s.names)+1)
	}
}

// memberID is an id that no answer has given out yet: its client's join is held.
var memberID = regexp.MustCompile(`(differ|one|two|three|leader|follower|newMember)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (s *side) text(t string) string {
	if name, ok := s.names[t]; ok {
		return "<" + name + ">"
	}
	for id, name := range s.names {
		t = strings.ReplaceAll(t, id, "<"+name+">")
	}
	return strings.ReplaceAll(memberID.ReplaceAllString(t, "<new member>"), s.group, "<group>")
}

// producer names a producer id by the order in which it was seen.
func (s *side) producer(id int64) string {
	if s.producers[id] == 0 {
		s.producers[id] = len(s.producers) + 1
	}
	return fmt.Sprintf("<producer %d>", s.producers[id])
}

// byChance tells fields that differ by chance, or by where a cluster is, under a name.
func (s *side) byChance(of, field string, v reflect.Value) (string, bool) {
	switch {
	case field == "ProducerID" && v.Int() >= 0:
		return s.producer(v.Int()), true
	case v.Type() == reflect.TypeFor[[16]byte]():
		id := v.Interface().([16]byte)
		if name, ok := s.topicIDs[id]; ok {
			return name, true
		}
		return hex.EncodeToString(id[:]), true
	case field == "SessionID" && v.Int() > 0:
		id := int32(v.Int())
		if s.sessions[id] == 0 {
			s.sessions[id] = len(s.sessions) + 1
		}
		return fmt.Sprintf("<session %d>", s.sessions[id]), true
	case s.wordless && field == "ErrorMessage":
		switch {
		case v.IsNil():
			return "null", true
		case v.Elem().String() == "":
			return "no words", true
		}
		return "words", true
	case s.wordless && (field == "LastTimestamp" || field == "Timestamp") && v.Int() > born+59_000 && v.Int() < 1<<62:
		return "the log's", true
	case (field == "LogAppendTime" || field == "StartTimestamp") && v.Int() > 0, s.wordless && field == "Port" && v.Int() > 0:
		return "set", true
	case field == "Documentation" && !v.IsNil():
		return "words", true
	case field == "Dir" && s.wordless:
		return "set", true
	case (field == "TotalBytes" || field == "UsableBytes") && v.Int() > 0:
		return "set", true
	case field == "ClusterID" && s.wordless && v.Kind() == reflect.Pointer && v.IsNil():
		return "null", true
	case field == "ClusterID" && s.wordless:
		return "set", true
	}
	return "", false
}

func (s *side) fields(path string, v reflect.Value) []string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return []string{path + " = null"}
		}
		return s.fields(path, v.Elem())
	case reflect.Struct:
		var all []string
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Name == "Version" || f.Type.Name() == "Tags" || !f.IsExported() || masked[v.Type().Name()+"."+f.Name] {
				continue
			}
			if named, ok := s.byChance(v.Type().Name(), f.Name, v.Field(i)); ok {
				all = append(all, path+"."+f.Name+" = "+named)
				continue
			}
			if f.Name == "RecordBatches" {
				all = append(all, s.batchLines(path+".RecordBatches", v.Field(i).Bytes())...)
				continue
			}
			all = append(all, s.fields(path+"."+f.Name, v.Field(i))...)
		}
		return all
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if v.IsNil() {
				return []string{path + " = null"}
			}
			return []string{path + " = " + hex.EncodeToString(v.Bytes())}
		}
		if v.IsNil() || v.Len() == 0 {
			return []string{path + " = none"}
		}
		var entries []string
		for i := range v.Len() {
			entries = append(entries, strings.Join(s.fields(path+"[]", v.Index(i)), "\n"))
		}
		slices.Sort(entries)
		return strings.Split(strings.Join(entries, "\n"), "\n")
	case reflect.String:
		return []string{fmt.Sprintf("%s = %q", path, s.text(v.String()))}
	}
	return []string{fmt.Sprintf("%s = %v", path, v.Interface())}
}

// masked are fields that say where a cluster is, not how it behaves.
var masked = map[string]bool{
	"FindCoordinatorResponse.Port": true, "FindCoordinatorResponseCoordinator.Port": true,
	"DescribeGroupsResponseGroupMember.ClientHost": false,
}
