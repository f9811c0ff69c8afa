package sim_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// live tells a long history in which up to four clients at a time commit and read one partition, as a correct
// coordinator would answer them; but the read with the number wrongAt sees what was overwritten before it began. It
// returns what the checks say.
func live(t *testing.T, seed uint64, bursts, wrongAt int) (r registers, wrong string) {
	prng := rand.New(rand.NewPCG(seed, 3))
	r = newRegisters()
	l := r.line(place{"g", "orders", 0}, true)
	now, overwritten, read := none, none, 0
	for range bursts {
		was := now
		effects := prng.Perm(1 + prng.IntN(4)) // in this order; they are called in the order of their numbers
		first := r.seq + 1
		over := make([]operation, len(effects))
		for at, i := range effects {
			over[i] = operation{effect: writes, dated: dated{value{offset: first + int64(at), epoch: -1}, first + int64(at)}, who: fmt.Sprintf("c%d", i)}
			if prng.IntN(2) == 0 {
				now = over[i].value
				continue
			}
			if over[i] = (operation{effect: reads, dated: dated{value: now}, who: fmt.Sprintf("c%d", i)}); read == wrongAt {
				over[i].value = overwritten
			}
			read++
		}
		if now != was {
			overwritten = was
		}
		for i, op := range over {
			l.add(op, first+int64(i), first+int64(2*len(over)-1-i)) // the last one called is over first: all overlap
		}
		r.seq = first + int64(2*len(over))
		if wrong := r.look(); wrong != "" {
			return r, wrong
		}
		if len(l.ops) >= windowOps {
			t.Fatalf("%d operations are kept", len(l.ops))
		}
	}
	return r, r.rest()
}

func TestALongLifeIsLookedAtPieceByPiece(t *testing.T) {
	r, wrong := live(t, 1, 20_000, -1)
	if wrong != "" || r.checked < 20_000 || r.windows < r.checked/(windowOps+4) || r.widest > windowOps+4 {
		t.Errorf("%d operations in %d pieces of up to %d: %s", r.checked, r.windows, r.widest, wrong)
	}
	for seed := range uint64(40) {
		at := int(seed)*29 + 5
		if _, wrong := live(t, seed, 1000, at); !strings.Contains(wrong, "cannot have happened in any order") {
			t.Errorf("seed %d: read %d saw what was overwritten: %q", seed, at, wrong)
		}
	}
}

// A register of which an operation never ends is an error of the campaign, not a history that grows for ever.
func TestARegisterThatIsNeverAtRest(t *testing.T) {
	r := newRegisters()
	l := r.line(place{"g", "orders", 0}, true)
	l.busy++
	for wrong := ""; wrong == ""; wrong = r.look() {
		r.seq++
		l.add(operation{effect: reads, dated: dated{value: none}}, r.seq, r.seq)
		if len(l.ops) > mostOps+1 {
			t.Fatal("nobody noticed")
		}
	}
}

// Commits that all wait for the same replica do not have to be tried in every order.
func TestManyCommitsAtOnce(t *testing.T) {
	for _, x := range []struct {
		last int64
		can  bool
	}{{100, true}, {99, false}} {
		s := &teller{h: newHistory(), offsets: map[string]int64{}}
		var all []string
		for _, part := range []string{"send", "store", "written", "ok"} {
			for n := range 100 {
				all = append(all, fmt.Sprintf("%s %d %d", part, n+1, n+1))
			}
		}
		for _, step := range append(all, fmt.Sprintf("read %d", x.last)) {
			s.step(t, strings.Fields(step))
		}
		if wrong := s.h.finish(); (wrong == "") != x.can {
			t.Errorf("the last of 100 commits at once is read as %d: %s", x.last, wrong)
		}
	}
}
