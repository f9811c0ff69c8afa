package sim

import (
	"fmt"
	"strconv"
)

// memberIDs makes member ids that people can read: the client id and four hex digits, "c1-4e1f", where Kafka has a
// UUID. The digits look like chance but are a bijection of (broker, issued), scrambled by the seed, so that no id is
// ever given twice.
func memberIDs(seed uint64) func(clientID string, broker int32, issued int64) string {
	odd := uint16(mix(seed)) | 1
	start := uint16(mix(seed + 1))
	return func(clientID string, broker int32, issued int64) string {
		n := issued*10 + int64(broker)
		id := fmt.Sprintf("%s-%04x", clientID, uint16(n)*odd+start)
		if n > 0xffff {
			id += strconv.FormatInt(n>>16, 16)
		}
		return id
	}
}

// mix spreads the bits of a number (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
