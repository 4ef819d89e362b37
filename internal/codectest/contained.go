package codectest

import (
	"errors"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec"
)

// A misdeed is a fault that a method of a value commits instead of its work.
type misdeed struct {
	name string
	do   func()
}

// unsaid is part of the value of each panic. It must not be in the text of an error.
const unsaid = "the password is swordfish"

// misdeeds are the ways in which a method may fail that an error cannot report.
var misdeeds = []misdeed{
	{"panics with a text", func() { panic(unsaid) }},
	{"panics with an error", func() { panic(errors.New(unsaid)) }},
	{"panics with an error of the codec", func() { panic(&codec.Error{Codec: unsaid, Message: unsaid}) }},
	{"panics with nil", func() { panic(nil) }},
	{"panics with a value that panics when it is printed", func() { panic(unprintable{}) }},
	{"uses a nil pointer", func() { _ = len(*(*string)(nil)) }},
	{"uses an index out of range", func() { _ = []int{}[len(unsaid)] }},
	{exits, runtime.Goexit},
}

// exits is the misdeed that is no panic.
const exits = "ends its goroutine"

type unprintable struct{}

func (unprintable) Error() string { panic(unsaid) }

// misbehaving puts each codec through each method of a value that panics or ends its goroutine, when it is written and when it
// is read. The value after it is written and read as the one before it was.
func misbehaving(t *testing.T, s *suite) {
	written, read := map[string]bool{}, map[string]bool{}
	for _, c := range allCarriers() {
		data, writable := s.Append(nil, c.value)
		want, readable := s.decodeNew(data, c.value)
		for _, m := range misdeeds {
			if s.endures(t, c.name+" written: "+m.name, m, func() error {
				out, err := s.Append([]byte("kept"), c.value)
				if err != nil && string(out) != "kept" {
					t.Errorf("%s written: %s: dst became %q", c.name, m.name, out)
				}
				return err
			}) {
				written[c.kind] = true
			}
			if again, err := s.Append(nil, c.value); (err == nil) != (writable == nil) || len(again) != len(data) {
				t.Fatalf("%s written: %s: then it was written as %q, %v; before as %q", c.name, m.name, again, err, data)
			}
			if writable != nil {
				continue
			}
			if s.endures(t, c.name+" read: "+m.name, m, func() error {
				_, err := s.decodeNew(data, c.value)
				return err
			}) {
				read[c.kind] = true
			}
			if got, err := s.decodeNew(data, c.value); (err == nil) != (readable == nil) || readable == nil && !reflect.DeepEqual(got, want) {
				t.Fatalf("%s read: %s: then it was read as %v, %v; before as %v, %v", c.name, m.name, got, err, want, readable)
			}
			s.mustStillWork(t, c.name+": "+m.name)
		}
	}
	if len(written) == 0 || len(read) == 0 {
		t.Errorf("no method was called: written %v, read %v", written, read)
	}
	t.Logf("methods that were called: in writing those of %q; in reading those of %q", slices.Sorted(maps.Keys(written)), slices.Sorted(maps.Keys(read)))
}

// decodeNew reads data into a new value of v's type.
func (s *suite) decodeNew(data []byte, v any) (any, error) {
	target := reflect.New(reflect.TypeOf(v))
	err := s.Decode(data, target.Interface())
	return target.Elem().Interface(), err
}

// endures runs the codec's f on a goroutine of its own with methods that do m, and reports whether one was called.
func (s *suite) endures(t *testing.T, what string, m misdeed, f func() error) bool {
	t.Helper()
	var err error
	returned := false
	calls := during(m.do, func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("%s: the codec panicked", what)
				}
			}()
			err = f()
			returned = true
		}()
		<-done
	})
	panicked, ok := errors.AsType[*codec.PanicError](err)
	switch {
	case calls == 0:
		return false
	case m.name == exits:
		if returned {
			t.Errorf("%s: the codec went on, with %v", what, err)
		}
	case !ok:
		t.Errorf("%s: got %v, want a *codec.PanicError", what, err)
	case panicked.Codec != s.Name() || !strings.Contains(string(panicked.Stack), "codectest.called"):
		t.Errorf("%s: a panic in the codec %q with the stack\n%s", what, panicked.Codec, panicked.Stack)
	case strings.Contains(err.Error(), unsaid):
		t.Errorf("%s: the error tells what the panic said: %v", what, err)
	}
	return true
}

// faulty writes values in which methods have a nil receiver. Whether that is a value, an error or a panic is for the format and
// the method to decide; it is never a panic of the codec.
func faulty(t *testing.T, s *suite) {
	for _, c := range faultyValues() {
		out, err := s.contained(t, c.name, []byte("kept"), c.value)
		if err != nil && string(out) != "kept" {
			t.Errorf("%s: dst became %q", c.name, out)
		}
		if err == nil {
			s.decodeContained(t, c.name, out[len("kept"):], reflect.New(reflect.TypeOf(c.value)).Interface())
		}
		s.mustStillWork(t, c.name)
	}
}

// contained is Append, whose panic is an error of the test.
func (s *suite) contained(t *testing.T, what string, dst []byte, v any) (out []byte, err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: Append panicked: %v", what, p)
			out, err = dst, errors.New("panicked")
		}
	}()
	return s.Append(dst, v)
}

func (s *suite) decodeContained(t *testing.T, what string, data []byte, v any) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: Decode panicked: %v", what, p)
			err = errors.New("panicked")
		}
	}()
	return s.Decode(data, v)
}

// mustStillWork sends a value that uses most of what a codec keeps in pools.
func (s *suite) mustStillWork(t *testing.T, after string) {
	t.Helper()
	want := someUser(3)
	var got user
	if err := s.Decode(s.encode(t, want), &got); err != nil {
		t.Fatalf("after %s: %v", after, err)
	}
	if diff := s.Difference(want, got); diff != "" {
		t.Fatalf("after %s: %s", after, diff)
	}
}
