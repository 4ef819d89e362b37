package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/codecs/shape"
)

func TestEveryCodecGivesBackWhatItWasGiven(t *testing.T) {
	for _, c := range codecs() {
		t.Run(c.name, func(t *testing.T) {
			if err := c.check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAWrongRoundTripIsFound(t *testing.T) {
	good := nativeCodecs()[0]
	for i, name := range shapes {
		bad := codec{name: "bad", entries: slices.Clone(good.entries)}
		other := good.entries[(i+1)%len(shapes)]
		bad.entries[i].encode = other.encode
		if err := bad.check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s encoded as another shape: %v", name, err)
		}
	}
	if same(shape.NewNested(), shape.Nested{}) == nil {
		t.Error("two different values taken for the same")
	}
}

func TestEveryCellIsMeasured(t *testing.T) {
	for _, c := range codecs() {
		job, err := start(child.Order{Row: c.name})
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range shapes {
			for _, d := range []direction{encoding, decoding} {
				for range 2 { // calibrated, and as calibrated
					answer, err := job.Answer(fmt.Sprintf("%s %d %d", d, i, 100*time.Microsecond))
					if err != nil {
						t.Fatalf("%s, %s, %s: %v", c.name, name, d, err)
					}
					s := answer.(child.Sample)
					if s.Operations <= 0 || s.Elapsed <= 0 || s.Wrong != 0 || s.Figures["size"] <= 0 {
						t.Errorf("%s, %s, %s: %+v", c.name, name, d, s)
					}
				}
			}
		}
	}
}

func TestAllocationsAreCounted(t *testing.T) {
	kept := make([][]byte, 1)
	e := entry{
		encode: func(dst []byte) ([]byte, error) { return append(dst, 1), nil },
		decode: func([]byte) error { kept[0] = make([]byte, 64); return nil },
		verify: func([]byte) error { return nil },
	}
	c, err := newCell(e, decoding)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.measure(time.Millisecond)
	if err != nil || s.Figures["allocs"] != 1 || s.Figures["allocated"] != 64 || s.Figures["size"] != 1 {
		t.Errorf("one allocation of 64 bytes for each: %+v, %v", s, err)
	}
}

func TestACodecThatGoesWrongWhileItIsMeasuredIsFound(t *testing.T) {
	calls := 0
	e := entry{
		encode: func(dst []byte) ([]byte, error) { calls++; return append(dst, 1), nil },
		decode: func([]byte) error { return nil },
		verify: func([]byte) error {
			if calls > 10 {
				return errors.New("another value")
			}
			return nil
		},
	}
	c, err := newCell(e, encoding)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.measure(time.Millisecond); err != nil || s.Wrong != 1 || s.Problem != "another value" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestWhatCannotBeMeasuredIsRefused(t *testing.T) {
	if _, err := start(child.Order{Row: "another codec"}); err == nil {
		t.Error("an unknown codec was started")
	}
	for _, word := range []string{"", "encode", "encode 1", "encode 8 1000", "encode -1 1000", "decode 1 0", "read 1 1000"} {
		if n, d, err := measureWord(word); err == nil {
			t.Errorf("%q was taken for %v, %v", word, n, d)
		}
	}
}

func BenchmarkCodecs(b *testing.B) {
	for _, d := range []direction{encoding, decoding} {
		for i, name := range shapes {
			for _, c := range codecs() {
				b.Run(string(d)+"/"+name+"/"+c.name, func(b *testing.B) {
					cell, err := newCell(c.entries[i], d)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportAllocs()
					for b.Loop() {
						if err := cell.loop(1); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
