package live

import (
	"reflect"
	"sync"

	"grouplab/coordinator/event"
)

var offsetBytes = int(reflect.TypeFor[event.OffsetValue]().Size())

// held returns the bytes that an event refers to, outside of its own struct: names, lists. Clients choose how long those are.
// What two events share counts for both.
func held(e *event.Event) int { return len(e.Group) + heldByBody(e.Body) }

// heldByBody is held for a body. Under load all but a few events are of the kinds that stand here; what reflection would find
// out about those is known.
func heldByBody(body event.Body) int {
	switch b := body.(type) {
	case event.HeartbeatReceived:
		return len(b.Member)
	case event.RequestReceived:
		return len(b.ClientID) + len(b.ClientHost) + len(b.Member) + len(b.Reason)
	case event.ReplyParked:
		return len(b.Member) + len(b.ClientID) + len(b.Until)
	case event.ReplySent:
		return len(b.Member) + len(b.Guard)
	case event.OffsetsPending:
		return len(b.Member) + heldByOffsets(b.Offsets)
	case event.OffsetsCommitted:
		return heldByOffsets(b.Offsets)
	case event.AppendStarted:
		return len(b.What)
	case event.AppendFinished:
		return 0
	case event.RecordsAppended:
		if group, offsets := b.Committed(); b.Records == nil {
			return len(b.Topic) + len(group) + heldByOffsets(offsets)
		}
	case event.HighWatermarkAdvanced:
		return len(b.Topic)
	case event.ReplicaAdvanced:
		return len(b.Topic)
	}
	return weigh(reflect.ValueOf(body))
}

func heldByOffsets(list []event.OffsetValue) int {
	bytes := len(list) * offsetBytes
	for i := range list {
		bytes += len(list[i].Topic) + len(list[i].Metadata)
	}
	return bytes
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
