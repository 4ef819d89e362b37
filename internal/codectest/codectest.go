// Package codectest states what codecs do, as tests that every one of them runs.
//
//	func TestConformance(t *testing.T) { codectest.Run(t, json.Codec, codectest.Features{Evolves: true}) }
//	func FuzzDecode(f *testing.F)      { codectest.Fuzz(f, json.Codec, codectest.Features{Evolves: true}) }
//	func BenchmarkShapes(b *testing.B) { codectest.Benchmark(b, json.Codec) }
//
// A format rarely holds everything that Go has. What it does not hold is stated in [Features], with the reason, and the
// suite then wants it refused: a value is never written as something else.
package codectest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec"
)

// Features describes a format. The zero value is a closed format that keeps all values and cannot evolve.
type Features struct {
	// Refuses names the shapes (see [Shapes]) that the format cannot hold, each with the reason. Append must refuse them.
	Refuses map[string]string

	// Evolves: a reader whose struct has more fields, fewer or in another order than the writer's reads what both have.
	// Where it is false, Decode must refuse such bytes.
	Evolves bool

	// Widens: a field may get a wider type on the reader's side: int32 to int64, uint8 to uint64, float32 to float64.
	Widens bool

	// KeepsNil: a nil slice, map or []byte comes back nil and an empty one empty. Where it is false, both may come back
	// as either.
	KeepsNil bool

	// ZeroPointersAreNil: a pointer to a zero value may come back nil.
	ZeroPointersAreNil bool

	// Cycles: the format has references, so a value may contain itself. Where it is false, Append must refuse such a value.
	Cycles bool

	// Open: a message has no end of its own, as in Protocol Buffers, so a part of one may be one, and so may no bytes.
	Open bool

	// Sorted: equal values give equal bytes, maps too.
	Sorted bool

	// TimeUnit is the resolution to which the codec rounds times down; 0 means nanoseconds.
	TimeUnit time.Duration

	// UTF8 sets what happens to strings that are not valid UTF-8.
	UTF8 UTF8

	// AnyInteger is a value of the Go type that an integer has in a target of type any; nil means int64.
	AnyInteger any

	// Deep returns bytes that nest lists, or what comes closest, to the given depth. The bytes need not be whole. They
	// are decoded into an any, and into a recursive type where Any is refused. nil leaves the test out.
	Deep func(levels int) []byte

	// Hostile has more bytes that Decode must refuse, whatever the target, within bounded memory; by what is wrong.
	Hostile map[string][]byte

	// BytesPerByte bounds the memory, in bytes, that a byte of data may cost beyond FirstBytes; 0 means 128.
	BytesPerByte int

	// FirstBytes is the number of bytes that any message may allocate: for pools, for buffers and for the first use of a
	// type. 0 means 256 KiB.
	FirstBytes int
}

// UTF8 is a codec's treatment of strings that are not valid UTF-8.
type UTF8 int

const (
	UTF8Refused UTF8 = iota // an error, in both directions
	UTF8Kept                // strings are bytes
)

// Run runs the conformance suite against c.
func Run(t *testing.T, c codec.Codec, f Features) {
	for name := range f.Refuses {
		if !slices.ContainsFunc(Shapes(), func(s Shape) bool { return s.Name == name }) {
			t.Errorf("Features.Refuses names the shape %q, which does not exist", name)
		}
	}
	s := &suite{Codec: c, Features: f}
	for _, test := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"each shape comes back", roundTrip},
		{"what the format cannot hold is refused", refusals},
		{"a value and a pointer to it give the same bytes", valuesAndPointers},
		{"equal values give equal bytes", deterministic},
		{"append keeps what dst holds", appendKeeps},
		{"append returns dst on an error", appendFails},
		{"append uses the room behind dst", appendInPlace},
		{"a value that contains itself is refused", cycles},
		{"nothing in the result refers to data", nothingAliases},
		{"bytes after the value are refused", trailing},
		{"no prefix of a message is a message", long(truncated)},
		{"targets that are no pointers are refused", badTargets},
		{"bytes of another shape are a value or an error", long(misfits)},
		{"changed bytes are a value or an error within bounded memory", long(mutations)},
		{"hostile bytes are refused within bounded memory", hostile},
		{"deep nesting is refused", deepNesting},
		{"deep values are refused", long(deepValues)},
		{"targets that contain themselves", endlessTargets},
		{"strings that are not UTF-8", invalidUTF8},
		{"readers and writers of other versions", evolution},
		{"wider fields", widening},
		{"a name that differs in its case only is not lost", otherCase},
		{"a target of type any gets plain Go types", anyTypes},
		{"what only MarshalJSON sees comes back or is refused", jsonOnly},
		{"concurrent use", long(concurrent)},
		{"a method that panics is the error of that call", long(misbehaving)},
		{"methods of nil values are no panic of the codec", faulty},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, s) })
	}
}

// long leaves out a test that takes seconds where go test was given -short.
func long(test func(*testing.T, *suite)) func(*testing.T, *suite) {
	return func(t *testing.T, s *suite) {
		if testing.Short() {
			t.Skip("takes seconds: run it without -short")
		}
		test(t, s)
	}
}

// suite is one codec under test.
type suite struct {
	codec.Codec
	Features
}

// shapes returns those that the format holds.
func (s *suite) shapes() []Shape {
	return slices.DeleteFunc(Shapes(), func(shape Shape) bool { return s.refuses(shape.Name) })
}

func (s *suite) refuses(name string) bool { return s.Refuses[name] != "" }

func (s *suite) encode(t testing.TB, v any) []byte {
	t.Helper()
	data, err := s.Append(nil, v)
	if err != nil {
		t.Fatalf("Append(%T): %v", v, err)
	}
	return data
}

// mustBeCodecError wants err, if there is one, to be a *codec.Error of this codec.
func (s *suite) mustBeCodecError(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	fault, ok := errors.AsType[*codec.Error](err)
	if !ok {
		t.Errorf("%s: a %T, want a *codec.Error: %v", what, err, err)
		return
	}
	if fault.Codec != s.Name() {
		t.Errorf("%s: the error is of codec %q, want %q: %v", what, fault.Codec, s.Name(), err)
	}
	if fault.Message == "" && fault.Want == "" && fault.Got == "" {
		t.Errorf("%s: the error says nothing: %v", what, err)
	}
}

// mustNameCodec wants err to begin with the name of the codec, as all its errors do. It is for faults of the program, such
// as a type that cannot be encoded, where an error need not be a *codec.Error.
func (s *suite) mustNameCodec(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil && !strings.HasPrefix(err.Error(), s.Name()+": ") {
		t.Errorf("%s: the error does not begin with %q: %v", what, s.Name()+": ", err)
	}
}

func refusals(t *testing.T, s *suite) {
	for _, shape := range Shapes() {
		if !s.refuses(shape.Name) {
			continue
		}
		out, err := s.Append([]byte("kept"), shape.Value)
		if err == nil {
			t.Errorf("%s was written, though %s", shape.Name, s.Refuses[shape.Name])
		}
		if string(out) != "kept" {
			t.Errorf("%s: dst became %q", shape.Name, out)
		}
		s.mustNameCodec(t, shape.Name, err)
	}
	t.Logf("%d of %d shapes are held; refused: %q", len(s.shapes()), len(Shapes()), slices.Sorted(maps.Keys(s.Refuses)))
}
