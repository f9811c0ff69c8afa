package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// bodyType is the struct behind a kind.
func bodyType(t *testing.T, kind string) reflect.Type {
	t.Helper()
	b, err := decode(Zero(kind), []byte("{}"))
	if err != nil {
		t.Fatalf("%s of an empty object: %v", kind, err)
	}
	return reflect.TypeOf(b)
}

// filler puts something else into every field of a struct; text makes its strings.
type filler struct {
	n    int64
	text func(n int64) string
}

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text(f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(f.n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() { // what is not is no part of the wire's
				f.fill(v.Field(i))
			}
		}
	default:
		panic(fmt.Sprintf("event: a field of type %s: bodies hold numbers, strings, flags, and lists and structs of them", v.Type()))
	}
}

// filled is a body of the kind in which no field is zero.
func filled(t *testing.T, kind string, text func(int64) string) Body {
	t.Helper()
	v := reflect.New(bodyType(t, kind)).Elem()
	f := &filler{n: int64(len(kind)), text: text}
	f.fill(v)
	return v.Interface().(Body)
}

func plainText(n int64) string { return "s" + strconv.FormatInt(n, 10) }

func TestEveryKindIsItsOwnName(t *testing.T) {
	for _, kind := range Kinds() {
		typ := bodyType(t, kind)
		if got := reflect.Zero(typ).Interface().(Body).Kind(); got != kind || typ.Name() != kind {
			t.Errorf("%q reads %s, which calls itself %q", kind, typ.Name(), got)
		}
	}
	if list := Kinds(); !slices.IsSorted(list) || len(list) != len(kinds) || len(list) < 60 {
		t.Errorf("%d kinds of %d, sorted %v", len(list), len(kinds), slices.IsSorted(list))
	}
}

func TestJSONBothWays(t *testing.T) {
	for _, kind := range Kinds() {
		for what, body := range map[string]Body{
			"filled": filled(t, kind, plainText),
			"zero":   reflect.Zero(bodyType(t, kind)).Interface().(Body),
		} {
			for _, e := range []Event{
				{Seq: 7, AtMs: 1_790_000_000_123, AtHiMs: 1_790_000_000_456, Broker: 2, Group: "g \"<&>\n", Cause: 6, Truth: Sampled, Body: body},
				{Seq: 1, Body: body},
			} {
				data, err := json.Marshal(e)
				if err != nil {
					t.Fatalf("%s %s: %v", what, kind, err)
				}
				var got Event
				if err := json.Unmarshal(data, &got); err != nil {
					t.Fatalf("%s %s: %v in %s", what, kind, err, data)
				}
				if !reflect.DeepEqual(got, e) {
					t.Errorf("%s %s:\n got %+v\nwant %+v\nthrough %s", what, kind, got, e, data)
				}
			}
		}
	}
}

func TestJSONShape(t *testing.T) {
	data, err := json.Marshal([]Event{
		{Seq: 3, AtMs: 250, Broker: 1, Group: "g", Cause: 2, Body: StateChanged{From: Empty, To: PreparingRebalance, Why: WhyFirstMember, Member: "c1"}},
		{Seq: 4, AtMs: 250, AtHiMs: 900, Truth: Inferred, Body: FactsEnded{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"seq":3,"atMs":250,"broker":1,"group":"g","cause":2,"kind":"StateChanged","body":` +
		`{"from":"Empty","to":"PreparingRebalance","why":"first member","member":"c1"}},` +
		`{"seq":4,"atMs":250,"atHiMs":900,"truth":"inferred","kind":"FactsEnded","body":{}}]`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

func TestBadJSONIsNamed(t *testing.T) {
	for data, want := range map[string]string{
		`{"seq":5,"kind":"StateMelted","body":{}}`:                     `event 5: no kind is called "StateMelted"`,
		`{"seq":5,"kind":"","body":{}}`:                                `event 5: no kind is called ""`,
		`{"seq":5,"truth":"rumoured","kind":"StateChanged","body":{}}`: `event 5: no truth is called "rumoured"; there are "", "inferred" and "sampled"`,
		`{"seq":5,"kind":"StateChanged"}`:                              `event 5, StateChanged: the body is missing`,
		`{"seq":5,"kind":"StateChanged","body":[1]}`:                   `event 5, StateChanged: json: cannot unmarshal array`,
		`{"seq":5,"kind":"ReplySent","body":{"code":70000}}`:           `event 5, ReplySent: json: cannot unmarshal number 70000`,
		`{"seq":"five","kind":"StateChanged","body":{}}`:               `an event is a JSON object: json: cannot unmarshal string`,
		`"StateChanged"`: `an event is a JSON object: json: cannot unmarshal string`,
	} {
		before := Event{Seq: 99, Body: FactsEnded{}}
		e := before
		if err := json.Unmarshal([]byte(data), &e); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", data, err, want)
		}
		if e != before {
			t.Errorf("%s: the event was changed to %+v", data, e)
		}
	}
	if _, err := json.Marshal(Event{Seq: 8}); err == nil || !strings.Contains(err.Error(), "event 8 has no body") {
		t.Errorf("an event without a body: error %v", err)
	}
}

// Field names on the wire are the Go names with a small first letter, once each, so that units stay in them.
func TestJSONNames(t *testing.T) {
	var check func(typ reflect.Type)
	check = func(typ reflect.Type) {
		seen := map[string]bool{}
		for i := range typ.NumField() {
			field := typ.Field(i)
			if !field.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if seen[name] || !strings.EqualFold(name, field.Name) || name[:1] != strings.ToLower(name[:1]) {
				t.Errorf("%s.%s is %q in JSON", typ.Name(), field.Name, name)
			}
			seen[name] = true
			for typ := field.Type; ; typ = typ.Elem() {
				if typ.Kind() == reflect.Struct {
					check(typ)
				}
				if typ.Kind() != reflect.Slice {
					break
				}
			}
		}
	}
	for _, kind := range Kinds() {
		check(bodyType(t, kind))
	}
}

// TestRecordsOfACommit: records that are only made when somebody asks are those that were given, in JSON and in print.
func TestRecordsOfACommit(t *testing.T) {
	given := RecordsAppended{Topic: "__consumer_offsets", Count: 2, Bytes: 90, Append: 3}
	asked := given
	given.Records = []LogRecord{{What: "offset", Group: "g", Topic: "orders", Partition: 1, Offset: 7, Metadata: "m"},
		{What: "offset", Group: "g", Topic: "orders", Partition: 2, Offset: 8}}
	asked.Commits("g", []OffsetValue{{Topic: "orders", Partition: 1, LeaderEpoch: 4, Offset: 7, Metadata: "m"}, {Topic: "orders", Partition: 2, Offset: 8}})
	want, err := json.Marshal(Event{Seq: 1, Body: given})
	got, err2 := json.Marshal(Event{Seq: 1, Body: asked})
	if err != nil || err2 != nil || string(got) != string(want) || asked.text() != given.text() {
		t.Errorf("%s, %v, %q; want %s, %v, %q", got, err2, asked.text(), want, err, given.text())
	}
}

func TestNumbers(t *testing.T) {
	var n Numbers
	if n.Last() != 0 || n.Next() != 1 || n.Next() != 2 || n.Last() != 2 {
		t.Errorf("numbers begin with 1 and have no holes; last is %d", n.Last())
	}
	c := n.Clone()
	if c.Next() != 3 || n.Next() != 3 || c.Next() != 4 || n.Last() != 3 {
		t.Error("a copy counts on its own from the same place")
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"seq":3,"atMs":250,"broker":1,"group":"g","cause":2,"kind":"StateChanged","body":{"from":"Empty","to":"Dead"}}`))
	f.Add([]byte(`{"seq":3,"kind":"OperationWatched","body":{"op":1,"keys":["a\nb",null],"deadlineMs":-9223372036854775808}}`))
	f.Add([]byte(`{"seq":3,"kind":"LeaderChanged","body":{"isr":[1,2],"replicas":null}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e Event
		if json.Unmarshal(data, &e) != nil || e.Body == nil {
			return
		}
		printed := e.String()
		if strings.IndexFunc(printed, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0 {
			t.Fatalf("%q is no plain line", printed)
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%+v was read and cannot be written: %v", e, err)
		}
		var f Event
		if err := json.Unmarshal(again, &f); err != nil || f.String() != printed {
			t.Fatalf("%q became %q, %v", printed, f.String(), err)
		}
	})
}

// TestAppendJSON: what is written field by field is what package json writes, whatever the names are.
func TestAppendJSON(t *testing.T) {
	for _, e := range []Event{
		{Seq: 1, Body: AppendFinished{}},
		{Seq: 2, AtMs: -3, AtHiMs: 4, Broker: 5, Group: "<g>&\u2028\"\\\x00\xff é", Cause: 6, Truth: Inferred, Body: ReplySent{Guard: "</script>"}},
	} {
		body, err := json.Marshal(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(wireEvent{e.Seq, e.AtMs, e.AtHiMs, e.Broker, e.Group, e.Cause, e.Truth.String(), e.Body.Kind(), body})
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.AppendJSON([]byte("before"))
		if err != nil || string(got) != "before"+string(want) {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	if _, err := (Event{Seq: 7}).AppendJSON(nil); err == nil {
		t.Error("an event without a body is written")
	}
}
