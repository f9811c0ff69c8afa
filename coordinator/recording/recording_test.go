package recording

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// written is a recording of n state changes.
func written(t testing.TB, n int, h Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, h)
	for i := range n {
		e := event.Event{Seq: int64(i + 1), AtMs: int64(1000 + i), Group: "orders", Body: event.StateChanged{From: event.Empty, To: event.Stable}}
		if err == nil {
			err = w.Event(&e)
		}
	}
	if err == nil {
		err = w.Gap(Gap{From: int64(n + 1), To: int64(n + 7), Reason: "the disk was full"})
	}
	if err == nil {
		err = w.End()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func packed(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, data []byte, l Limits) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(data), l)
	if err != nil {
		t.Fatal(err)
	}
	for r.Next(10) {
	}
	return r
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	text := written(t, 100, Header{Cluster: "c", FromMs: 5, Masked: true})
	for _, data := range [][]byte{text, packed(t, text)} {
		r := read(t, data, Limits{})
		if !r.Whole || r.Stopped != "" || len(r.Events) != 100 || len(r.Gaps) != 1 || r.Header.Cluster != "c" || !r.Header.Masked {
			t.Fatalf("whole %v, stopped %q, %d events, %d gaps, %+v", r.Whole, r.Stopped, len(r.Events), len(r.Gaps), r.Header)
		}
		if r.Events[99].Seq != 100 || r.Gaps[0].To != 107 {
			t.Errorf("the last event is %v, the gap %+v", r.Events[99], r.Gaps[0])
		}
	}
}

// Wherever a file is cut, what lies before counts, and where it ended is said.
func TestACutFileShowsWhatCouldBeRead(t *testing.T) {
	data := packed(t, written(t, 200, Header{}))
	for at := len(data) - 1; at > 40; at -= 13 {
		r, err := Open(bytes.NewReader(data[:at]), Limits{})
		if err != nil {
			continue // not even the header
		}
		for r.Next(1000) {
		}
		if r.Whole && len(r.Events) != 200 || !r.Whole && !strings.Contains(r.Stopped, "could be read") {
			t.Fatalf("cut at %d of %d: whole %v, %d events, stopped %q", at, len(data), r.Whole, len(r.Events), r.Stopped)
		}
	}
}

func TestAnotherVersionsKindsAreCountedAndSkipped(t *testing.T) {
	text := string(written(t, 3, Header{}))
	lines := strings.SplitAfter(text, "\n")
	alien := `{"seq":2,"atMs":1,"kind":"SharePartitionLost","body":{"x":1}}` + "\n"
	r := read(t, []byte(lines[0]+lines[1]+alien+alien+"nonsense\n"+lines[2]), Limits{})
	if len(r.Events) != 2 || r.Unknown["SharePartitionLost"] != 2 || r.Unreadable != 1 || !strings.Contains(r.Words, "line 5") || r.UnknownKinds() != "SharePartitionLost (2)" {
		t.Errorf("%d events, unknown %v, %d unreadable (%s)", len(r.Events), r.Unknown, r.Unreadable, r.Words)
	}
}

func TestAFileThatWasChangedIsFound(t *testing.T) {
	text := bytes.Replace(written(t, 3, Header{}), []byte(`"Stable"`), []byte(`"Dead"`), 1)
	if r := read(t, text, Limits{}); r.Whole || !strings.Contains(r.Stopped, "check sum") {
		t.Errorf("whole %v, stopped %q", r.Whole, r.Stopped)
	}
}

func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "empty",
		"hello\n":                        "first line",
		`{"grouplab":"progress"}` + "\n": "first line",
		`{"grouplab":"recording","version":2}` + "\n": "version 2",
		"\x1f\x8bxx": "none",
	} {
		if _, err := Open(strings.NewReader(text), Limits{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want something about %q", text, err, want)
		}
	}
}

// A megabyte that unpacks to a gigabyte costs no more than the limit, and a million events no more than the most.
func TestHostileFilesAreHarmless(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = NewWriter(z, Header{})

	for range 128 {
		fmt.Fprintln(z, strings.Repeat(" ", 1<<20))
	}
	z.Close()
	if r := read(t, b.Bytes(), Limits{Bytes: 16 << 20}); !strings.Contains(r.Stopped, "16 MB") {
		t.Errorf("a bomb: %q", r.Stopped)
	}
	long := append(written(t, 1, Header{})[:0:0], []byte("{\"grouplab\":\"recording\",\"version\":1}\n")...)
	long = append(long, bytes.Repeat([]byte("x"), 5<<20)...)
	if r := read(t, long, Limits{}); !strings.Contains(r.Stopped, "longer than") {
		t.Errorf("a long line: %q", r.Stopped)
	}
	if r := read(t, written(t, 1000, Header{}), Limits{Events: 100}); len(r.Events) != 100 || !strings.Contains(r.Stopped, "more than 100 events") {
		t.Errorf("many events: %d, %q", len(r.Events), r.Stopped)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, 3, Header{}))
	f.Add(packed(f, written(f, 3, Header{})))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Open(bytes.NewReader(data), Limits{Bytes: 1 << 20, Events: 100})
		if err != nil {
			return
		}
		for r.Next(100) {
		}
		if len(r.Events) > 100 {
			t.Error("more than the limit")
		}
	})
}
