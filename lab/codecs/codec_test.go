package main

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

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

func TestEveryBaselineIsACodec(t *testing.T) {
	for _, name := range baselines {
		if !slices.ContainsFunc(codecs(), func(c codec) bool { return c.name == name }) {
			t.Errorf("no codec is called %s", name)
		}
	}
}

func TestQuickRunMeasuresEveryCell(t *testing.T) {
	var out strings.Builder
	if err := run(context.Background(), []string{"-quick", "-json"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := json.Unmarshal([]byte(out.String()), &doc); err != nil {
		t.Fatal(err)
	}
	if want := len(doc.Codecs) * len(shapes) * 2; len(doc.Cells) != want || want == 0 {
		t.Errorf("%d cells, want %d", len(doc.Cells), want)
	}
	for _, c := range doc.Cells {
		if c.Nanos.Median <= 0 || c.Bytes <= 0 {
			t.Errorf("%s, %s, %s: %v ns, %d bytes", c.Codec, c.Shape, c.Direction, c.Nanos.Median, c.Bytes)
		}
	}
}

func TestTablesNameEveryCodecAndShape(t *testing.T) {
	var out strings.Builder
	if err := run(context.Background(), []string{"-quick", "-only", "native,google,gob"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range append([]string{"sabir native", "google protobuf", "gob", "geometric mean", "Missing"}, shapes...) {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output has no %q", want)
		}
	}
}

func TestRatiosAreAgainstTheBestBaseline(t *testing.T) {
	r := results{cells: []*cell{
		{Codec: "google protobuf", Shape: "PID", Direction: decoding},
		{Codec: "sabir native", Shape: "PID", Direction: decoding},
	}}
	r.cells[0].Nanos.Median, r.cells[1].Nanos.Median = 60, 20
	if got := r.base("PID", decoding); got != 60 {
		t.Errorf("base is %v, want protobuf's 60", got)
	}
	if got := r.base("map", decoding); got != 0 {
		t.Errorf("base of what was not measured is %v, want 0", got)
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown codec": {"-only", "nothing of the kind"},
		"no rounds":     {"-rounds", "0"},
		"too short":     {"-round", (50 * time.Microsecond).String()},
		"argument":      {"native"},
		"unknown flag":  {"-what"},
	} {
		if _, err := planOf(args, io.Discard); err == nil {
			t.Errorf("%s: %v was accepted", name, args)
		}
	}
}

func BenchmarkCodecs(b *testing.B) {
	for _, d := range []direction{encoding, decoding} {
		for i, name := range shapes {
			for _, c := range codecs() {
				b.Run(string(d)+"/"+name+"/"+c.name, func(b *testing.B) {
					first, err := c.entries[i].encode(nil)
					if err != nil {
						b.Fatal(err)
					}
					loop := loopOf(c.entries[i], d, slices.Clone(first))
					b.ReportAllocs()
					for b.Loop() {
						if err := loop(1); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
