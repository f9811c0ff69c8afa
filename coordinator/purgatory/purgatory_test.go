package purgatory

import (
	"fmt"
	"slices"
	"testing"
)

// fake is a behaviour that says what was called and does what a test puts in.
type fake struct {
	told       []string
	ready      map[string]bool
	try        func(op Op, v string)
	onComplete func(op Op, v string)
}

func (f *fake) tell(format string, args ...any) {
	f.told = append(f.told, fmt.Sprintf(format, args...))
}

func (f *fake) TryComplete(op Op, v string) bool {
	f.tell("try %s", v)
	if f.try != nil {
		f.try(op, v)
	}
	return f.ready[v]
}

func (f *fake) OnComplete(op Op, v string, expired bool) {
	f.tell("complete %s expired=%v", v, expired)
	if f.onComplete != nil {
		f.onComplete(op, v)
	}
}

func (f *fake) OnExpiration(op Op, v string) { f.tell("expiration %s", v) }

func (f *fake) StayedIncomplete(op Op, key, v string) { f.tell("incomplete %s under %s", v, key) }

func (f *fake) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(f.told, want) {
		t.Errorf("called\n\t%q\nwant\n\t%q", f.told, want)
	}
	f.told = nil
}

func newFake() (*Wheel, *Purgatory[string, string], *fake) {
	w, f := NewWheel(0), &fake{ready: map[string]bool{}}
	return w, New[string, string](w, 0, f), f
}

func figures(t *testing.T, p *Purgatory[string, string], watched, delayed int) {
	t.Helper()
	if p.Watched() != watched || p.Delayed() != delayed {
		t.Errorf("watched %d, delayed %d; want %d, %d", p.Watched(), p.Delayed(), watched, delayed)
	}
}

func advance(w *Wheel, nowMs int64, ps ...*Purgatory[string, string]) {
	for {
		x, ok := w.Advance(nowMs, nil)
		if !ok {
			break
		}
		ps[x.Owner].Expire(x)
	}
	for _, p := range ps {
		p.Purge()
	}
}

// PURG-01: satisfaction.
func TestPURG01_Satisfaction(t *testing.T) {
	_, p, f := newFake()
	check := func(key string, want int) {
		t.Helper()
		if got := p.CheckAndComplete(key); got != want {
			t.Errorf("CheckAndComplete(%q) = %d, want %d", key, got, want)
		}
	}
	check("test1", 0)
	for i, r := range []string{"r1", "r2"} {
		if _, completed := p.TryCompleteElseWatch(0, r, 100_000, "test"+r[1:]); completed {
			t.Errorf("%s was never ready and completed", r)
		}
		figures(t, p, i+1, i+1)
	}
	check("test1", 0)
	check("test2", 0)
	figures(t, p, 2, 2)
	f.ready["r1"] = true
	check("test1", 1)
	check("test1", 0)
	figures(t, p, 1, 1)
	f.ready["r2"] = true
	check("test2", 1)
	check("test2", 0)
	figures(t, p, 0, 0)
}

// PURG-02: expiry.
func TestPURG02_Expiry(t *testing.T) {
	w, p, f := newFake()
	r1, _ := p.TryCompleteElseWatch(0, "r1", 20, "test1")
	r2, _ := p.TryCompleteElseWatch(0, "r2", 200_000, "test1")
	f.told = nil
	advance(w, 19, p)
	f.expect(t)
	advance(w, 20, p)
	f.expect(t, "complete r1 expired=true", "expiration r1")
	if _, waits := p.Get(r1); waits {
		t.Error("r1 still waits after its deadline")
	}
	if _, waits := p.Get(r2); !waits {
		t.Error("r2 is over before its deadline")
	}
	figures(t, p, 2, 1) // r1 is in its list until somebody knocks
	p.CheckAndComplete("test1")
	figures(t, p, 1, 1)
}

// PURG-03: two tries, the registration between them.
func TestPURG03_TwoTries(t *testing.T) {
	_, p, f := newFake()
	f.try = func(op Op, v string) {
		d, _ := p.Get(op)
		f.tell("watched %d delayed %d keys %v", p.Watched(), p.Delayed(), d.Keys)
	}
	if _, completed := p.TryCompleteElseWatch(0, "never", 1000, "a", "b"); completed {
		t.Error("completed")
	}
	f.expect(t, "try never", "watched 0 delayed 0 keys []", "try never", "watched 2 delayed 0 keys [a b]")
	figures(t, p, 2, 1)
	f.ready["at once"] = true
	if _, completed := p.TryCompleteElseWatch(0, "at once", 1000, "a", "b"); !completed {
		t.Error("not completed")
	}
	f.expect(t, "try at once", "watched 2 delayed 1 keys []", "complete at once expired=false")
	figures(t, p, 2, 1)
}

func TestSecondTryCompletes(t *testing.T) {
	w, p, f := newFake()
	tries := 0
	f.try = func(Op, string) {
		tries++
		f.ready["r"] = tries == 2
	}
	if op, completed := p.TryCompleteElseWatch(0, "r", 1000, "a", "b"); !completed {
		t.Errorf("%+v did not complete at the second try", op)
	}
	f.expect(t, "try r", "try r", "complete r expired=false")
	figures(t, p, 2, 0)
	if w.Size() != 0 {
		t.Error("a timer was armed for a completed operation")
	}
	p.CheckAndComplete("a")
	figures(t, p, 1, 0)
	p.CheckAndComplete("b")
	figures(t, p, 0, 0)
	f.expect(t)
}

func TestCompletedOnceAndDroppedLazily(t *testing.T) {
	w, p, f := newFake()
	op, _ := p.TryCompleteElseWatch(0, "r", 1000, "a", "b", "c")
	other, _ := p.TryCompleteElseWatch(0, "s", 1000, "b")
	f.told = nil
	if !p.Complete(op) || p.Complete(op) || p.Cancel(op) {
		t.Error("an operation is completed once")
	}
	f.expect(t, "complete r expired=false")
	figures(t, p, 4, 1)
	p.CheckAndComplete("b")
	f.expect(t, "try s", "incomplete s under b")
	figures(t, p, 3, 1)
	if !p.Cancel(other) || p.Complete(other) {
		t.Error("a cancelled operation is over")
	}
	advance(w, 5000, p)
	f.expect(t)
	figures(t, p, 3, 0)
	if p.Complete(Op{}) || p.Cancel(Op{}) {
		t.Error("the zero Op names an operation")
	}
}

func TestPurgeBeyondTheInterval(t *testing.T) {
	w, p, _ := newFake()
	for i := range PurgeInterval + 1 {
		if i == PurgeInterval {
			if p.Purge() {
				t.Errorf("purged at %d", i)
			}
			figures(t, p, 2*PurgeInterval, 0)
		}
		op, _ := p.TryCompleteElseWatch(0, "r", 1000, "a", fmt.Sprint(i))
		p.Complete(op)
	}
	live, _ := p.TryCompleteElseWatch(0, "live", 1000, "a", "b")
	figures(t, p, 2*PurgeInterval+4, 1)
	advance(w, 1, p) // estimated 1002 - delayed 1
	figures(t, p, 2, 1)
	if d, ok := p.Get(live); !ok || !slices.Equal(d.Keys, []string{"a", "b"}) {
		t.Errorf("after the purge: %+v", d)
	}
	if n := len(p.byKey) - p.empty; n != 2 || p.empty > PurgeInterval {
		t.Errorf("%d lists with entries, %d without", n, p.empty)
	}
	if p.Purge() {
		t.Error("purged twice: the estimate was not set to what is delayed")
	}
}

func TestWhatIsKnownOfAnOperation(t *testing.T) {
	w, p, _ := newFake()
	advance(w, 37, p)
	a, _ := p.TryCompleteElseWatch(37, "a", 10_037, "k1", "k2")
	b, _ := p.TryCompleteElseWatch(37, "b", 50, "k2")
	if a.Number != 1 || b.Number != 2 || !slices.Equal(p.Waiting(), []Op{a, b}) {
		t.Errorf("%+v %+v, waiting %+v", a, b, p.Waiting())
	}
	d, ok := p.Get(a)
	if want := (Details[string, string]{"a", []string{"k1", "k2"}, 37, 10_037, Placement{3, 8_000}, 1}); !ok || fmt.Sprint(d) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", d, want)
	}
	if got := p.Place(b); got != (Placement{0, 50}) {
		t.Errorf("placed %+v", got)
	}
	w.Advance(8_000, func(c Cascade) {
		if c.Owner != 0 || p.At(c.Ref) != a {
			t.Errorf("cascade %+v of %+v, want %+v", c, p.At(c.Ref), a)
		}
	})
	p.Complete(a)
	if _, ok := p.Get(a); ok || p.Place(a) != (Placement{Level: -1}) {
		t.Error("an operation that is over is still known")
	}
}

// OnComplete may put a new operation under the same key, as a join that cannot elect a leader waits anew (Kafka:
// onCompleteJoin). The walk under way does not test it.
func TestCompletionThatWaitsAnew(t *testing.T) {
	w, p, f := newFake()
	f.ready["join"] = true
	f.onComplete = func(_ Op, v string) {
		if v == "join" {
			p.TryCompleteElseWatch(0, "again", 70, "g")
		}
	}
	f.ready["join"] = false
	p.TryCompleteElseWatch(0, "join", 50, "g")
	f.ready["join"] = true
	f.told = nil
	if n := p.CheckAndComplete("g"); n != 1 {
		t.Errorf("completed %d", n)
	}
	f.expect(t, "try join", "complete join expired=false", "try again", "try again")
	figures(t, p, 1, 1)
	advance(w, 70, p)
	f.expect(t, "complete again expired=true", "expiration again")
}

// A completion may knock on the very key that is walked: the inner walk completes what is left, once.
func TestCompletionThatKnocksAgain(t *testing.T) {
	_, p, f := newFake()
	for _, v := range []string{"a", "b", "c"} {
		p.TryCompleteElseWatch(0, v, 50, "k")
		f.ready[v] = true
	}
	inner := -1
	f.onComplete = func(_ Op, v string) {
		if v == "a" {
			inner = p.CheckAndComplete("k")
		}
	}
	f.told = nil
	if n := p.CheckAndComplete("k"); n != 1 || inner != 2 {
		t.Errorf("completed %d, within %d", n, inner)
	}
	f.expect(t, "try a", "complete a expired=false", "try b", "complete b expired=false", "try c", "complete c expired=false")
	figures(t, p, 0, 0)
}

// Completed from within its own second try (here: by a knock), an operation gets no timer.
func TestCompletedDuringItsOwnTry(t *testing.T) {
	w, p, f := newFake()
	tries := 0
	f.try = func(op Op, _ string) {
		if tries++; tries == 2 {
			p.Complete(op)
			p.CheckAndComplete("k")
		}
	}
	if _, completed := p.TryCompleteElseWatch(0, "r", 50, "k"); !completed {
		t.Error("not completed")
	}
	f.expect(t, "try r", "try r", "complete r expired=false")
	figures(t, p, 0, 0)
	next, _ := p.TryCompleteElseWatch(0, "s", 50, "k")
	if w.Size() != 1 || next.Number != 2 {
		t.Errorf("%d timers, next %+v", w.Size(), next)
	}
}

// A try that ends its own operation by other means is not repeated, and nobody is told that it stayed.
func TestCompletedByOtherMeansDuringATry(t *testing.T) {
	_, p, f := newFake()
	f.try = func(op Op, v string) {
		if v == "first" || len(f.told) > 3 {
			p.Complete(op)
		}
	}
	if _, completed := p.TryCompleteElseWatch(0, "first", 50, "k"); !completed {
		t.Error("not completed")
	}
	f.expect(t, "try first", "complete first expired=false")
	figures(t, p, 1, 0)
	op, _ := p.TryCompleteElseWatch(0, "later", 50, "k")
	f.tell("knock")
	if n := p.CheckAndComplete("k"); n != 0 {
		t.Errorf("completed %d", n)
	}
	f.expect(t, "try later", "try later", "knock", "try later", "complete later expired=false")
	figures(t, p, 0, 0)
	if v := p.ops.at[op.slot].value; v != "" {
		t.Errorf("the value %q of an operation that is over is kept", v)
	}
}

// Two purgatories on one wheel: what is due in one millisecond ends in order of arming, whoever armed it.
func TestPurgatoriesShareAWheel(t *testing.T) {
	w, first, f := newFake()
	second := New[string, string](w, 1, f)
	for i, p := range []*Purgatory[string, string]{first, second, second, first, second, first} {
		op, _ := p.TryCompleteElseWatch(w.ClockMs(), fmt.Sprint(i), 500, "k")
		if op.Number != int64(i+1) {
			t.Errorf("operation %d has number %d: numbers are one row for all", i, op.Number)
		}
		advance(w, int64(i+1)*80, first, second) // so that they come from different cells
	}
	f.told = nil
	advance(w, 500, first, second)
	var want []string
	for i := range 6 {
		want = append(want, fmt.Sprintf("complete %d expired=true", i), fmt.Sprintf("expiration %d", i))
	}
	f.expect(t, want...)
	figures(t, first, 3, 0)
	figures(t, second, 3, 0)
}

func TestForeignTimerIsRefused(t *testing.T) {
	_, p, _ := newFake()
	op, _ := p.TryCompleteElseWatch(0, "r", 50, "k")
	for _, x := range []Expired{{0, 1, 0, 50}, {1, 0, 0, 50}} {
		want := fmt.Sprintf("purgatory: Purgatory.Expire of %+v, which is not the timer of a waiting operation of owner 0", x)
		if got := panicOf(func() { p.Expire(x) }); got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}
	if !p.Complete(op) {
		t.Error("the operation was harmed")
	}
	if got := panicOf(func() { p.TryCompleteElseWatch(0, "r", 1) }); got != "purgatory: Purgatory.TryCompleteElseWatch without a key" {
		t.Errorf("panic %q", got)
	}
}

// idle is the behaviour of operations that are never ready and do nothing, for measuring.
type idle[K comparable] struct{}

func (idle[K]) TryComplete(Op, int64) bool    { return false }
func (idle[K]) OnComplete(Op, int64, bool)    {}
func (idle[K]) OnExpiration(Op, int64)        {}
func (idle[K]) StayedIncomplete(Op, K, int64) {}

func TestSteadyUseAllocatesNothing(t *testing.T) {
	w := NewWheel(0)
	p := New[string, int64](w, 0, idle[string]{})
	keys := []string{"a", "b", "c", "d"}
	ops := map[string]Op{}
	nowMs := int64(0)
	round := func() {
		nowMs += 3
		key := keys[nowMs%4]
		p.Complete(ops[key])
		p.CheckAndComplete(key)
		ops[key], _ = p.TryCompleteElseWatch(nowMs, nowMs, nowMs+10, key, "all")
		for {
			x, ok := w.Advance(nowMs, nil)
			if !ok {
				break
			}
			p.Expire(x)
		}
		p.Purge()
	}
	for range 5000 {
		round()
	}
	if n := testing.AllocsPerRun(5000, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
