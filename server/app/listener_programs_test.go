package app

import (
	"slices"
	"testing"
	"time"
)

// listenerPrograms are where the fuzzer of the listener begins: one program for each thing that can go on.
func listenerPrograms() [][]byte {
	on := func(connection, what byte) byte { return connection*doCount + what }
	// A request of the table's row k in the highest version, with every choice 0.
	ask := func(connection, what, k byte) []byte { return []byte{on(connection, what), 2, k, 0} }
	do := func(connection, what byte) []byte { return []byte{on(connection, what), 0} }
	var programs [][]byte
	add := func(config byte, parts ...[]byte) {
		program := []byte{config}
		for _, p := range parts {
			program = append(program, p...)
		}
		programs = append(programs, program)
	}
	const produce, fetch, commit, find, join, beat, leave, sync, describe, shake, create, configs, token = 0, 1, 4, 6, 7, 8, 9, 10, 11, 13, 15, 25, 28 // rows of the table
	for k := byte(0); k < 41; k++ {                                                                                                                    // each API by itself; turned; cut; many times; in halves around another one
		add(0, ask(0, doSend, find), do(0, doWait), ask(0, doSend, find), do(0, doWait), ask(0, doSend, k), do(0, doWait), ask(0, doSend, k), do(0, doWait))
		add(6, ask(0, doSend, shake), ask(0, doSend, token), ask(0, doSend, k), do(0, doWait)) // where clients are asked who they are
		add(0, ask(0, doFlip, k), do(0, doWait), []byte{on(0, doCut), 3, k, 0, 9}, ask(1, doSend, k), do(1, doWait))
		add(0, ask(0, doSplit, k), []byte{on(1, doMany), 3, k, 0, 70}, do(0, doRest), do(0, doWait), do(1, doWait))
	}
	send := func(k byte, connections ...byte) (steps [][]byte) {
		for _, c := range connections {
			steps = append(steps, ask(c, doSend, k), do(c, doWait))
		}
		return steps
	}
	for config := range byte(2) { // members that meet, are held, and go while they are
		group := slices.Concat(send(find, 0, 0), send(join, 0, 0), send(sync, 0), send(beat, 0), send(commit, 0), send(describe, 0), send(join, 1, 1, 2, 2, 3, 3), send(beat, 0), send(join, 0))
		add(config, slices.Concat(group, send(sync, 0, 1, 2, 3), send(commit, 2), [][]byte{do(1, doClose)}, send(join, 2, 3), [][]byte{do(3, doClose)}, send(leave, 0))...)
		add(config, slices.Concat(group, [][]byte{do(0, doDeaf), {on(0, doMany), 3, beat, 0, 70}, {on(0, doMany), 3, fetch, 6, 70}}, send(sync, 1))...)
		add(config, slices.Concat(group, [][]byte{ask(0, doSend, join), do(0, doClose), do(1, doClose)}, send(join, 2), [][]byte{do(2, doClose), do(3, doClose)}, send(join, 0))...)
	}
	add(0, []byte{on(0, doSend), 4, create, 0, 0, 2}, do(0, doWait), []byte{on(0, doSend), 2, fetch, 6}, do(0, doWait), ask(0, doSend, configs), do(0, doWait))
	add(0, []byte{on(0, doMany), 3, produce, 0, 70}, do(1, doDeaf), []byte{on(1, doMany), 3, fetch, 6, 70}, []byte{on(2, doSend), 2, fetch, 6}, do(0, doWait), do(1, doDeaf), do(1, doWait), do(2, doClose))
	for _, greeting := range []string{"GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc", "\x7f\xff\xff\xff", "\x00\x00\x00\x00", "\x06\x00\x00\x00\x00\x00\x00\x0b"} {
		add(0, []byte{on(0, doRaw), byte(len(greeting))}, []byte(greeting), do(0, doWait))
	}
	return programs
}

// TestListenerPrograms demands that the programs do what they say: that requests are answered without an error, joins are held,
// members meet. How long an answer takes is the machine's to say, so what was missed is tried again with more patience.
func TestListenerPrograms(t *testing.T) {
	counts := map[int16]int64{}
	missing := func() (list []int16) {
		for _, api := range []int16{0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 22, 32, 36, 60} {
			if counts[api] == 0 {
				list = append(list, api)
			}
		}
		return list
	}
	for moment := time.Millisecond; len(missing()) > 0; moment *= 3 {
		if moment > time.Second {
			t.Fatalf("no program has an API of %v that is answered without an error; answered are %v", missing(), counts)
		}
		for _, data := range listenerPrograms() {
			program := &bytecode{data}
			s, at, end := overPipes(t, fuzzedConfig(program.next(), &complaints{}))
			play(t, at, program, alive(t, at), moment)
			within(t, "every connection to be gone", func() bool { return s.brokers.Connections() == 0 })
			for _, a := range s.brokers.Figures().Answered {
				if a.Code == 0 {
					counts[a.API] += a.Count
				}
			}
			end()
		}
	}
}
