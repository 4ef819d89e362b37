package codectest

import (
	"bytes"
	"testing"
)

func appendKeeps(t *testing.T, s *suite) {
	for _, shape := range s.shapes() {
		if shape.unordered && !s.Sorted {
			continue
		}
		plain := s.encode(t, shape.Value)
		for _, room := range []int{0, 1, len(plain) - 1, len(plain), len(plain) + 1, 2*len(plain) + 1000} {
			dst := append(make([]byte, 0, 3+max(room, 0)), "abc"...)
			out, err := s.Append(dst, shape.Value)
			if err != nil {
				t.Errorf("%s with room for %d bytes: %v", shape.Name, room, err)
				continue
			}
			if string(out[:3]) != "abc" || !bytes.Equal(out[3:], plain) {
				t.Errorf("%s with room for %d bytes: %.200q after %q, want %.200q", shape.Name, room, out[3:], out[:3], plain)
			}
			if string(dst) != "abc" {
				t.Errorf("%s with room for %d bytes: dst became %q", shape.Name, room, dst)
			}
		}
	}
}

func appendInPlace(t *testing.T, s *suite) {
	dst := make([]byte, 10, 64<<10)
	out, err := s.Append(dst, someUser(1))
	if err != nil {
		t.Fatal(err)
	}
	if &out[0] != &dst[0] {
		t.Error("Append moved to another array though there was room for 64 KiB")
	}
}

// failing has some fields that can be encoded before one that cannot.
type failing struct {
	Name    string   `json:"name"`
	Address address  `json:"address"`
	Channel chan int `json:"channel"`
}

func appendFails(t *testing.T, s *suite) {
	values := map[string]any{
		"a channel":           make(chan int),
		"a function":          func() {},
		"a struct with one":   failing{Name: "Ada", Channel: make(chan int)},
		"a list of them":      []failing{{Name: "Ada", Channel: make(chan int)}},
		"a pointer to a chan": new(chan int),
	}
	if !s.refuses("any") {
		values["a channel in an interface"] = holder{"x", make(chan int)}
		values["a channel in a list of any"] = []any{"x", 1, make(chan int)}
	}
	for name, value := range values {
		dst := append(make([]byte, 0, 256), "abc"...)
		out, err := s.Append(dst, value)
		if err == nil {
			t.Errorf("%s was encoded as %q", name, out[3:])
			continue
		}
		s.mustNameCodec(t, name, err)
		if string(out) != "abc" || &out[0] != &dst[0] {
			t.Errorf("%s: got %q, want dst", name, out)
		}
	}
}
