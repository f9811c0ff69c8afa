package record

import (
	"fmt"
	"testing"
)

func TestTransaction(t *testing.T) {
	for _, c := range []struct {
		value Transaction
		hex   string
	}{
		{Transaction{ProducerID: 1000, ProducerEpoch: 2, TimeoutMs: 60000, State: 1, Partitions: []TopicPartitions{{"t", []int32{0, 3}}}, UpdateTimestampMs: 5, StartTimestampMs: 4},
			"0000" + "00000000000003e8" + "0002" + "0000ea60" + "01" + "00000001" + "0001" + "74" + "00000002" + "00000000" + "00000003" + "0000000000000005" + "0000000000000004"},
		{Transaction{ProducerID: 1, TimeoutMs: 1, UpdateTimestampMs: 5, StartTimestampMs: -1},
			"0000" + "0000000000000001" + "0000" + "00000001" + "00" + "ffffffff" + "0000000000000005" + "ffffffffffffffff"},
		{Transaction{ProducerID: 1, TimeoutMs: 1, State: 4, UpdateTimestampMs: 5, StartTimestampMs: 4},
			"0000" + "0000000000000001" + "0000" + "00000001" + "04" + "00000000" + "0000000000000005" + "0000000000000004"},
	} {
		b := TransactionValue(c.value)
		if got := fmt.Sprintf("%x", b); got != c.hex {
			t.Errorf("%+v is written as\n%s, want\n%s", c.value, got, c.hex)
		}
		if got, err := DecodeTransaction(b); err != nil || fmt.Sprint(got) != fmt.Sprint(c.value) {
			t.Errorf("read %+v, %v, want %+v", got, err, c.value)
		}
		for n := range b {
			if _, err := DecodeTransaction(b[:n]); err == nil {
				t.Errorf("the first %d bytes of %x were read", n, b)
			}
		}
	}
	if _, err := DecodeTransaction([]byte{0, 2}); err == nil {
		t.Error("version 2 was read")
	}
	bad := TransactionValue(Transaction{State: 8})
	if _, err := DecodeTransaction(bad); err == nil {
		t.Error("state 8 was read")
	}
	key := TransactionKey("tx")
	if got := fmt.Sprintf("%x", key); got != "000000027478" {
		t.Errorf("key %s", got)
	}
	if id, known, err := DecodeTransactionKey(key); id != "tx" || !known || err != nil {
		t.Errorf("key %q, %v, %v", id, known, err)
	}
	if _, known, err := DecodeTransactionKey([]byte{0, 1, 0}); known || err != nil {
		t.Errorf("a later version: %v, %v", known, err)
	}
	if _, _, err := DecodeTransactionKey(key[:5]); err == nil {
		t.Error("a cut key was read")
	}
}

// Version 1, which Kafka writes from transaction.version 1 on, is flexible; its tags are of transaction version 2.
func TestTransactionOfVersion1(t *testing.T) {
	tags := "03" + "00" + "08" + "00000000000003e7" + "02" + "02" + "0002" + "09" + "01" + "ff"
	b := unhex(t, "0001"+"00000000000003e8"+"0002"+"0000ea60"+"02"+"02"+"0274"+"02"+"00000003"+"00"+"0000000000000005"+"0000000000000004"+tags)
	want := Transaction{ProducerID: 1000, ProducerEpoch: 2, TimeoutMs: 60000, State: 2, Partitions: []TopicPartitions{{"t", []int32{3}}}, UpdateTimestampMs: 5, StartTimestampMs: 4}
	got, err := DecodeTransaction(b)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "version 1", got, want)
	empty, err := DecodeTransaction(unhex(t, "0001"+"00000000000003e8"+"0002"+"0000ea60"+"00"+"00"+"0000000000000005"+"ffffffffffffffff"+"00"))
	if err != nil || empty.Partitions != nil || empty.StartTimestampMs != -1 {
		t.Errorf("without partitions: %+v, %v", empty, err)
	}
}
