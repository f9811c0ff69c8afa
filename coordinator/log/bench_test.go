package log

import (
	"fmt"
	"testing"
)

// BenchmarkAppend writes small batches, as commits are: one record of about 100 bytes.
func BenchmarkAppend(b *testing.B) {
	data := Encode(NoProducer, 0, []Record{{TimestampMs: 1, Key: make([]byte, 40), Value: make([]byte, 40)}})
	l := New(NewMemory(), Config{SegmentBytes: 1 << 20})
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for range b.N {
		batch, err := Validate(data, 1<<20)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Append(batch, 0); err != nil {
			b.Fatal(err)
		}
		if l.Segments() > 20 {
			if err := l.Retain(1<<20, -1, 0, l.EndOffset()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "batches/s")
}

// BenchmarkRecords decodes batches of 10 records.
func BenchmarkRecords(b *testing.B) {
	var records []Record
	for range 10 {
		records = append(records, Record{Key: make([]byte, 40), Value: make([]byte, 40)})
	}
	batch, _, _ := Parse(Encode(NoProducer, 0, records))
	b.ReportAllocs()
	for range b.N {
		n := 0
		if err := batch.Each(nil, func(Record) bool { n++; return true }); err != nil || n != 10 {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.N*10)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkRead finds and reads one batch of a long log.
func BenchmarkRead(b *testing.B) {
	l := New(NewMemory(), Config{})
	batch, _, _ := Parse(Encode(NoProducer, 0, []Record{{Value: make([]byte, 80)}}))
	for range 100_000 {
		if _, err := l.Append(batch, 0); err != nil {
			b.Fatal(err)
		}
	}
	for _, size := range []int{1, 1 << 20} {
		b.Run(fmt.Sprint("bytes=", size), func(b *testing.B) {
			for i := range b.N {
				if data, err := l.Read(int64(i)*7919%100_000, 100_000, size, true); err != nil || len(data) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
