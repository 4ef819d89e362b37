package codectest

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
)

func trailing(t *testing.T, s *suite) {
	for _, shape := range s.shapes() {
		for _, more := range []string{"\x00", "\x00\x01\x02\x03", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
			data := append(s.encode(t, shape.Value), more...)
			err := s.Decode(data, reflect.New(reflect.TypeOf(shape.Value)).Interface())
			if err == nil {
				t.Errorf("%s followed by %q was accepted", shape.Name, more)
			}
			s.mustBeCodecError(t, shape.Name, err)
		}
		if data := s.encode(t, shape.Value); !s.Open && !shape.scalar {
			if s.Decode(bytes.Repeat(data, 2), reflect.New(reflect.TypeOf(shape.Value)).Interface()) == nil {
				t.Errorf("%s twice was accepted", shape.Name)
			}
		}
	}
}

// longest is the most bytes of which each prefix is tried; of longer messages, a thousand prefixes are.
const longest = 4096

func truncated(t *testing.T, s *suite) {
	for _, shape := range s.shapes() {
		if shape.scalar && !s.Open {
			continue
		}
		data := s.encode(t, shape.Value)
		step := 1
		if len(data) > longest {
			step = len(data) / 1000
		}
		for n := 0; n < len(data); n += step {
			target := reflect.New(reflect.TypeOf(shape.Value)).Interface()
			err := s.Decode(data[:n:n], target)
			if err == nil && !s.Open {
				t.Errorf("%s: the first %d of %d bytes were accepted", shape.Name, n, len(data))
				break
			}
			s.mustBeCodecError(t, shape.Name, err)
		}
	}
}

func badTargets(t *testing.T, s *suite) {
	data := s.encode(t, someUser(1))
	for _, target := range []any{nil, user{}, (*user)(nil), 5, "text", make(chan int), new(chan int), new(func())} {
		err := s.Decode(data, target)
		if err == nil {
			t.Errorf("decoded into %#v", target)
		}
		s.mustNameCodec(t, fmt.Sprintf("into %T", target), err)
	}
}

// misfits decodes each shape into the type of each other one.
func misfits(t *testing.T, s *suite) {
	shapes := s.shapes()
	for _, from := range shapes {
		data := s.encode(t, from.Value)
		if len(data) > longest {
			continue
		}
		for _, to := range shapes {
			err := s.Decode(data, reflect.New(reflect.TypeOf(to.Value)).Interface())
			s.mustBeCodecError(t, from.Name+" into "+to.Name, err)
		}
	}
}

func mutations(t *testing.T, s *suite) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, shape := range s.shapes() {
		data := s.encode(t, shape.Value)
		if len(data) > longest {
			continue
		}
		typ := reflect.TypeOf(shape.Value)
		for i := range data {
			variants := changedAt(data, i, byte(random.Uint32()))
			// Measuring costs more than decoding, so each one is measured only where all together take much.
			together := allocatedBy(func() {
				for _, changed := range variants {
					s.mustBeCodecError(t, shape.Name, s.Decode(changed, reflect.New(typ).Interface()))
				}
			})
			if together > s.limit(data) {
				for _, changed := range variants {
					s.decodeBounded(t, shape.Name, changed, reflect.New(typ).Interface())
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// changedAt returns data with other bytes at i: one byte, or what may be a long length.
func changedAt(data []byte, i int, random byte) (variants [][]byte) {
	for _, b := range []byte{0x00, 0x7f, 0x80, 0xff, data[i] ^ 1, random} {
		changed := bytes.Clone(data)
		changed[i] = b
		variants = append(variants, changed)
	}
	for _, b := range []byte{0x7f, 0xff} {
		changed := bytes.Clone(data)
		for j := i; j < min(i+4, len(changed)); j++ {
			changed[j] = b
		}
		variants = append(variants, changed)
	}
	return variants
}

// hostileTargets are types that a length without data behind it may fill.
func (s *suite) hostileTargets() []any {
	targets := []any{new(string), new([]byte), new([]int), new([]user), new([]string), new(map[string]int), new(user), new(tree), new(lists)}
	if !s.refuses("any") {
		targets = append(targets, new(map[string]any), new([]any), new(holder))
	}
	return targets
}

func hostile(t *testing.T, s *suite) {
	for name, data := range s.Hostile {
		for _, target := range s.hostileTargets() {
			if err := s.decodeBounded(t, name, data, target); err == nil {
				t.Errorf("%s was accepted by a %T: %.100q", name, target, data)
			}
		}
	}
	for _, target := range s.hostileTargets() {
		err := s.Decode(nil, target)
		if err == nil && !s.Open {
			t.Errorf("no bytes at all were accepted by a %T", target)
		}
		s.mustBeCodecError(t, "no bytes", err)
		for _, b := range []byte{0x00, 0x7f, 0xff} {
			_ = s.decodeBounded(t, fmt.Sprintf("100 bytes of %#x", b), bytes.Repeat([]byte{b}, 100), target)
		}
	}
}

// decodeBounded decodes and wants no more memory than the data's length allows.
func (s *suite) decodeBounded(t testing.TB, what string, data []byte, target any) error {
	t.Helper()
	var err error
	got := allocatedBy(func() { err = s.Decode(data, target) })
	if limit := s.limit(data); got > limit {
		t.Errorf("%s: %d bytes of data made %d bytes of a %T, want at most %d: %.100q", what, len(data), got, target, limit, data)
	}
	s.mustBeCodecError(t, what, err)
	return err
}

func (s *suite) limit(data []byte) uint64 {
	return uint64(cmp.Or(s.FirstBytes, 256<<10) + cmp.Or(s.BytesPerByte, 128)*len(data))
}

// allocatedBy returns the bytes that f takes from the heap, whether they are freed again or not.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func deepNesting(t *testing.T, s *suite) {
	if s.Deep == nil {
		return
	}
	for _, levels := range []int{20_000, 5_000_000} {
		data := s.Deep(levels)
		targets := []any{new(tree), new(chain), new(user)}
		if !s.refuses("any") {
			targets = append(targets, new(any), new([]any), new(holder))
		}
		for _, target := range targets {
			if err := s.decodeBounded(t, fmt.Sprint(levels, " levels"), data, target); err == nil {
				t.Errorf("%d levels were decoded into a %T", levels, target)
			}
		}
	}
}

// marker is a string that occurs nowhere else in a message.
const marker = "~~~~~~~~"

func invalidUTF8(t *testing.T, s *suite) {
	bad := "\xff\xfe\xfd\xff\xff\xff\xff\xff"
	out, err := s.Append(nil, address{Street: bad})
	if s.UTF8 == UTF8Refused {
		if err == nil {
			t.Errorf("Append wrote %q", out)
		}
		s.mustBeCodecError(t, "Append", err)
	} else if err != nil {
		t.Errorf("Append: %v", err)
	}

	data := s.encode(t, address{Street: marker})
	changed := bytes.ReplaceAll(data, []byte(marker), []byte(bad))
	if bytes.Equal(changed, data) {
		t.Fatalf("the format does not write strings as they are: %q", data)
	}
	var got address
	err = s.Decode(changed, &got)
	if s.UTF8 == UTF8Refused && err == nil {
		t.Errorf("Decode accepted %q", got.Street)
	}
	if s.UTF8 == UTF8Kept && (err != nil || got.Street != bad) {
		t.Errorf("Decode gave %q, %v", got.Street, err)
	}
	s.mustBeCodecError(t, "Decode", err)
}
