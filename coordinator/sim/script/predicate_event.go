package script

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
)

// match is one FIELD=VALUE of an event clause.
type match struct{ field, value string }

// headerFields are the fields of an event's header that a clause can ask for, beside those of its body.
var headerFields = []string{"broker", "group"}

// parseEvent reads "event KIND [FIELD=VALUE]…". Fields are named as in JSON; lists print as [a b].
func parseEvent(a *words) (holdsFunc, isFunc, error) {
	kind, err := a.next(param{"KIND", wrongKind}, "event KIND [FIELD=VALUE]…")
	if err != nil {
		return nil, nil, err
	}
	fields := fieldsOf(kind)
	var matches []match
	for ; len(a.list) > 0; a.list = a.list[1:] {
		w := a.list[0]
		field, value, found := strings.Cut(w.Text, "=")
		if !found {
			return nil, nil, a.fail(w.Col, "%q is no FIELD=VALUE", w.Text)
		}
		if !slices.Contains(fields, field) {
			return nil, nil, a.fail(w.Col, "%s has no field %q%s", kind, field, suggest(field, fields, "; it has "+strings.Join(fields, ", ")))
		}
		matches = append(matches, match{field, value})
	}
	return func(e *Engine) bool {
			for ev := range e.since.each {
				if ev.Body.Kind() == kind && allMatch(ev, matches) {
					return true
				}
			}
			return false
		}, func(e *Engine) string {
			n := 0
			for ev := range e.since.each {
				if ev.Body.Kind() == kind {
					n++
				}
			}
			switch {
			case n == 0:
				return fmt.Sprintf("no %s happened", kind)
			case len(matches) == 0:
				return fmt.Sprintf("%s happened", kind)
			}
			return fmt.Sprintf("%s happened, %d in number", kind, n)
		}, nil
}

// fieldsOf lists what a clause can ask of a kind.
func fieldsOf(kind string) []string {
	fields := slices.Clone(headerFields)
	t := reflect.TypeOf(event.Zero(kind))
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			fields = append(fields, name)
		}
	}
	return fields
}

func allMatch(ev event.Event, matches []match) bool {
	for _, m := range matches {
		var text string
		switch m.field {
		case "broker":
			text = fmt.Sprint(ev.Broker)
		case "group":
			text = ev.Group
		default:
			text = fieldText(ev.Body, m.field)
		}
		if text != m.value && !sameMember(m.field, text, m.value) && !sameName(m, ev.Body) {
			return false
		}
	}
	return true
}

// memberFields hold member ids. An id is the client's name, '-' and hex digits (see sim), so that a client's name stands
// for any id it ever had.
var memberFields = []string{"member", "leader", "deadlineOf", "beganMember"}

func sameMember(field, id, name string) bool {
	i := strings.LastIndexByte(id, '-')
	return i > 0 && id[:i] == name && slices.Contains(memberFields, field)
}

// sameName lets an API and an error code stand under their names: api=JoinGroup, code=ILLEGAL_GENERATION.
func sameName(m match, b event.Body) bool {
	if m.field != "api" && m.field != "code" {
		return false
	}
	n, err := strconv.ParseInt(fieldText(b, m.field), 10, 16)
	return err == nil && (m.field == "api" && event.APIName(int16(n)) == m.value || m.field == "code" && event.CodeName(int16(n)) == m.value)
}

// fieldText prints one field of a body.
func fieldText(b event.Body, field string) string {
	if appended, ok := b.(event.RecordsAppended); ok {
		appended.Records = appended.Told()
		b = appended
	}
	v := reflect.ValueOf(b)
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name == field {
			return fmt.Sprint(v.Field(i).Interface())
		}
	}
	return ""
}
