package live

import (
	"reflect"
	"sync"

	"grouplab/coordinator/event"
)

// kept is an event and what it holds.
type kept struct {
	event.Event
	// bytes is what lies outside of the event's own struct: names, lists. Clients choose how long those are.
	bytes int
}

// keep weighs an event. What two events share counts for both.
func keep(e event.Event) kept {
	return kept{e, len(e.Group) + weigh(reflect.ValueOf(e.Body))}
}

// weigh returns the bytes that a value refers to, its own not included.
func weigh(v reflect.Value) (bytes int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			bytes = v.Len() * int(v.Type().Elem().Size())
		}
		if refers(v.Type().Elem()) {
			for i := range v.Len() {
				bytes += weigh(v.Index(i))
			}
		}
	case reflect.Struct:
		for _, i := range referring(v.Type()) {
			bytes += weigh(v.Field(i))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			bytes = int(v.Elem().Type().Size()) + weigh(v.Elem())
		}
	case reflect.Map:
		for of := v.MapRange(); of.Next(); {
			bytes += int(v.Type().Key().Size()+v.Type().Elem().Size()) + weigh(of.Key()) + weigh(of.Value())
		}
	}
	return bytes
}

func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Slice, reflect.Pointer, reflect.Interface, reflect.Map:
		return true
	case reflect.Array:
		return refers(t.Elem())
	case reflect.Struct:
		return len(referring(t)) > 0
	}
	return false
}

// fields has the result of referring for each struct that was looked at: those of package event, and no others.
var fields sync.Map

// referring returns the fields of a struct that refer to something.
func referring(t reflect.Type) []int {
	if known, ok := fields.Load(t); ok {
		return known.([]int)
	}
	var found []int
	for i := range t.NumField() {
		if refers(t.Field(i).Type) {
			found = append(found, i)
		}
	}
	fields.Store(t, found)
	return found
}
