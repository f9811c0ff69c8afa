package view

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// RawField is a field of a record or a request: its name, its bytes in hex and what they mean.
type RawField struct{ Name, Hex, Value string }

// Raw are the bytes of what is selected. Note says where they are from, or why there are none.
type Raw struct {
	Fields []RawField
	Note   string
}

// rawReader takes a message apart, field by field, as its schema says.
type rawReader struct {
	data   []byte
	at     int
	fields []RawField
	bad    bool
}

// take is the next n bytes.
func (r *rawReader) take(n int) []byte {
	if r.bad || n < 0 || len(r.data)-r.at < n {
		r.bad = true
		return nil
	}
	b := r.data[r.at : r.at+n]
	r.at += n
	return b
}

func (r *rawReader) say(name string, from int, value string) {
	if !r.bad {
		r.fields = append(r.fields, RawField{name, hexOf(r.data[from:r.at]), value})
	}
}

// hexMost is how many bytes of a field are written out.
const hexMost = 24

func hexOf(b []byte) string {
	if len(b) > hexMost {
		return hex.EncodeToString(b[:hexMost]) + "…"
	}
	return hex.EncodeToString(b)
}

func (r *rawReader) whole(name string, size int) int64 {
	from := r.at
	b := r.take(size)
	var n int64
	for i, x := range b {
		if i == 0 {
			n = int64(int8(x))
		} else {
			n = n<<8 | int64(x)
		}
	}
	r.say(name, from, strconv.FormatInt(n, 10))
	return n
}

// text is a string with its length in two bytes; a length of −1 is null.
func (r *rawReader) text(name string) {
	from := r.at
	b := r.take(2)
	if b == nil {
		return
	}
	n := int(int16(binary.BigEndian.Uint16(b)))
	if n < 0 {
		r.say(name, from, "null")
		return
	}
	s := string(r.take(n))
	if r.bad {
		r.at = from
	}
	r.say(name, from, strconv.Quote(s))
}

// blob is a run of bytes with its length in four.
func (r *rawReader) blob(name string) {
	from := r.at
	b := r.take(4)
	if b == nil {
		return
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	r.take(max(n, 0))
	if r.bad {
		r.at = from
	}
	r.say(name, from, strconv.Itoa(max(n, 0))+" bytes")
}

// RecordFields takes a record of __consumer_offsets apart (Kafka: OffsetCommitKey and Value, GroupMetadataKey and Value).
// What does not follow its schema ends with a field "?".
func RecordFields(key, value []byte, control bool) []RawField {
	k := &rawReader{data: key}
	version := k.whole("key.version", 2)
	v := &rawReader{data: value}
	switch {
	case control:
		k.fields = k.fields[:0]
		k.at = 0
		k.whole("key.version", 2)
		k.whole("key.type", 2)
		v.whole("value.version", 2)
		v.whole("value.coordinatorEpoch", 4)
	case version == 0 || version == 1:
		k.text("key.group")
		k.text("key.topic")
		k.whole("key.partition", 4)
		v.offsetValue()
	case version == 2:
		k.text("key.group")
		v.groupValue()
	}
	k.rest("key")
	if value == nil {
		return append(k.fields, RawField{Name: "value", Value: "null"})
	}
	v.rest("value")
	return append(k.fields, v.fields...)
}

func (r *rawReader) offsetValue() {
	if r.data == nil {
		return
	}
	version := r.whole("value.version", 2)
	r.whole("value.offset", 8)
	if version >= 3 {
		r.whole("value.leaderEpoch", 4)
	}
	r.text("value.metadata")
	r.whole("value.commitTimestamp", 8)
	if version == 1 {
		r.whole("value.expireTimestamp", 8)
	}
}

// memberFieldsMost is how many members of a group's record are taken apart.
const memberFieldsMost = 8

func (r *rawReader) groupValue() {
	if r.data == nil {
		return
	}
	version := r.whole("value.version", 2)
	r.text("value.protocolType")
	r.whole("value.generation", 4)
	r.text("value.protocol")
	r.text("value.leader")
	if version >= 2 {
		r.whole("value.currentStateTimestamp", 8)
	}
	n := r.whole("value.members", 4)
	for i := int64(0); i < min(n, memberFieldsMost) && !r.bad; i++ {
		at := "members[" + strconv.FormatInt(i, 10) + "]."
		r.text(at + "memberId")
		if version >= 3 {
			r.text(at + "groupInstanceId")
		}
		r.text(at + "clientId")
		r.text(at + "clientHost")
		if version >= 1 {
			r.whole(at+"rebalanceTimeout", 4)
		}
		r.whole(at+"sessionTimeout", 4)
		r.blob(at + "subscription")
		r.blob(at + "assignment")
	}
}

// rest tells of bytes that no field took.
func (r *rawReader) rest(name string) {
	if left := r.data[min(r.at, len(r.data)):]; len(left) > 0 || r.bad {
		r.fields = append(r.fields, RawField{name + " …", hexOf(left), strconv.Itoa(len(left)) + " bytes"})
	}
}
