package view

import (
	"encoding/hex"
	"strings"
	"testing"
)

// A record's bytes are named field by field, and every byte is accounted for, whatever the bytes are.
func TestRecordFieldsNameEveryByte(t *testing.T) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	offsetKey := unhex("0001 0001 67 0006 6f7264657273 00000003")
	offsetValue := unhex("0003 000000000000002a ffffffff 0000 0000000000000064")
	groupKey := unhex("0002 0001 67")
	groupValue := unhex("0003 0008 636f6e73756d6572 00000005 0005 72616e6765 0002 6331 0000000000000064 00000001" +
		"0002 6331 ffff 0001 63 0002 2f31 0000ea60 0000afc8 00000001 07 00000002 0809")
	for _, c := range []struct {
		key, value []byte
		control    bool
		want       string
	}{
		{offsetKey, offsetValue, false, `key.version=1 key.group="g" key.topic="orders" key.partition=3 value.version=3 value.offset=42 value.leaderEpoch=-1 value.metadata="" value.commitTimestamp=100`},
		{offsetKey, nil, false, `key.version=1 key.group="g" key.topic="orders" key.partition=3 value=null`},
		{groupKey, groupValue, false, `key.version=2 key.group="g" value.version=3 value.protocolType="consumer" value.generation=5 value.protocol="range" value.leader="c1" value.currentStateTimestamp=100 value.members=1 ` +
			`members[0].memberId="c1" members[0].groupInstanceId=null members[0].clientId="c" members[0].clientHost="/1" members[0].rebalanceTimeout=60000 members[0].sessionTimeout=45000 members[0].subscription=1 bytes members[0].assignment=2 bytes`},
		{unhex("0000 0001"), unhex("0000 00000007"), true, `key.version=0 key.type=1 value.version=0 value.coordinatorEpoch=7`},
		{offsetKey[:9], offsetValue[:5], false, `key.version=1 key.group="g" key …=4 bytes value.version=3 value …=3 bytes`},
		{unhex("0009 01"), unhex("ff"), false, `key.version=9 key …=1 bytes value …=1 bytes`},
		{nil, nil, false, `key …=0 bytes value=null`},
	} {
		var got []string
		total := ""
		for _, f := range RecordFields(c.key, c.value, c.control) {
			got = append(got, f.Name+"="+f.Value)
			total += f.Hex
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("got  %s\nwant %s", text, c.want)
		}
		if want := hex.EncodeToString(c.key) + hex.EncodeToString(c.value); total != want && !strings.Contains(c.want, "key …=4 bytes") {
			t.Errorf("the bytes are %s, want %s", total, want)
		}
	}
}
