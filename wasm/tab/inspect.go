package tab

import (
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
	"grouplab/static/view"
)

// sourcePath is the table of the code, which is made at each build. It is asked for when something is selected first.
const sourcePath = "dist/lines.json"

// inspected is what was found for a selection at a moment.
type inspected struct {
	selected string
	seq      int64
	lang     view.Lang
	raw      *view.Raw
}

// inspect brings what the card of the selection needs beside the picture.
func (t *Tab) inspect() {
	if t.selected == "" || t.playing() {
		t.options.Raw = nil
		return
	}
	if !t.sourced {
		t.sourced = true
		t.out.Ask = append(t.out.Ask, sourcePath)
	}
	now := inspected{selected: t.selected, seq: t.model().Seq, lang: t.options.Lang}
	if last := t.inspected; last.selected != now.selected || last.seq != now.seq || last.lang != now.lang {
		now.raw = t.raw()
		t.inspected = now
	}
	t.options.Raw = t.inspected.raw
}

// gotSource takes the table over; where it has not come, cards do without it and it is not asked for again.
func (t *Tab) gotSource(status int, body []byte) {
	var s view.Source
	if status == 200 && json.Unmarshal(body, &s) == nil {
		t.options.Source, t.dirty = &s, true
	}
}

// raw are the bytes of what is selected; nil where it is nothing that has bytes.
func (t *Tab) raw() *view.Raw {
	kind, rest, _ := strings.Cut(t.selected, ":")
	request := int64(0)
	switch kind {
	case "record":
	case "request":
		request, _ = number(rest)
	case "event":
		if request = t.requestOf(rest); request == 0 {
			return nil
		}
	default:
		return nil
	}
	return t.mode.raw(request, rest)
}

// requestOf is the number of the request that a fact is about, 0 where it is about none.
func (t *Tab) requestOf(seq string) int64 {
	at, _ := number(seq)
	e := t.mode.factAt(at)
	if e == nil {
		return 0
	}
	switch b := e.Body.(type) {
	case event.RequestSent:
		return b.Request
	case event.RequestReceived:
		return b.Ticket
	case event.ReplyParked:
		return b.Ticket
	case event.ReplyOnWire:
		return b.Request
	}
	return 0
}

func (t *Tab) rawRecord(e *script.Engine, rest string) *view.Raw {
	part, offset, _ := strings.Cut(rest, ":")
	p, _ := strconv.ParseInt(part, 10, 32)
	at, _ := number(offset)
	r, ok := e.World().RawRecord(int32(p), at)
	if !ok {
		return &view.Raw{Note: t.options.Lang.T("raw.gone")}
	}
	note := t.options.Lang.T("raw.record", strconv.FormatInt(r.BaseOffset, 10), strconv.Itoa(r.BatchBytes), strconv.Itoa(int(r.LeaderEpoch)))
	return &view.Raw{Note: note, Fields: view.RecordFields(r.Key, r.Value, r.Control)}
}

func (t *Tab) rawRequest(e *script.Engine, number int64) *view.Raw {
	req, answer, ok := e.World().RequestOf(number)
	if !ok {
		return &view.Raw{Note: t.options.Lang.T("raw.over")}
	}
	data := req.AppendTo(nil)
	raw := &view.Raw{Note: t.options.Lang.T("raw.request", strconv.Itoa(len(data)), strconv.Itoa(int(req.GetVersion())))}
	raw.Fields = append(messageFields(nil, "", reflect.ValueOf(req), 0), view.RawField{Name: "AppendTo", Hex: hex.EncodeToString(data[:min(len(data), 48)])})
	if answer != nil {
		raw.Fields = messageFields(raw.Fields, "→ ", reflect.ValueOf(answer), 0)
	}
	return raw
}

const (
	// fieldsMost and depthMost bound how much of a message is shown.
	fieldsMost = 80
	depthMost  = 4
)

// messageFields are the fields of one of kmsg's messages, by the names that kmsg gives them.
func messageFields(list []view.RawField, name string, v reflect.Value, depth int) []view.RawField {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return append(list, view.RawField{Name: name, Value: "null"})
		}
		v = v.Elem()
	}
	switch {
	case len(list) >= fieldsMost || depth > depthMost:
		return list
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && f.Name != "UnknownTags" && f.Name != "Version" {
				at := f.Name
				if depth > 0 {
					at = name + "." + f.Name
				} else if name != "" {
					at = name + f.Name
				}
				list = messageFields(list, at, v.Field(i), depth+1)
			}
		}
		return list
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		b := v.Bytes()
		return append(list, view.RawField{Name: name, Hex: hex.EncodeToString(b[:min(len(b), 24)]), Value: strconv.Itoa(len(b)) + " bytes"})
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			list = messageFields(list, name+"["+strconv.Itoa(i)+"]", v.Index(i), depth+1)
		}
		return list
	case v.Kind() == reflect.String:
		return append(list, view.RawField{Name: name, Value: strconv.Quote(v.String())})
	case v.CanInt():
		return append(list, view.RawField{Name: name, Value: strconv.FormatInt(v.Int(), 10)})
	case v.Kind() == reflect.Bool:
		return append(list, view.RawField{Name: name, Value: strconv.FormatBool(v.Bool())})
	}
	return list
}

// engineHere is the engine at the cursor: the head's own, or a copy that has run again up to there. It must only be looked
// at. nil where the way there fails.
func (m *lessonMode) engineHere() *script.Engine {
	if m.cursor.seq == m.head.seq() || m.cursor.seq < m.head.startSeq {
		return m.head.engine
	}
	h, err := m.head.copyAt(m.cursor.applied(), m.cursor.nowMs)
	if err != nil {
		return nil
	}
	return h.engine
}
