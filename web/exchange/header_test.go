package exchange

import (
	"slices"
	"strings"
	"testing"
)

func TestHeaderNamesAreComparedWithoutTheirCase(t *testing.T) {
	var h Header
	h.Add("X-Meta-A", "1")
	h.Add("x-meta-a", "2")
	h.Add("Other", "3")
	for _, name := range []string{"X-Meta-A", "x-meta-a", "X-META-A"} {
		if h.Get(name) != "1" || !h.Has(name) || !slices.Equal(slices.Collect(h.All(name)), []string{"1", "2"}) {
			t.Errorf("%s: %q, %q", name, h.Get(name), slices.Collect(h.All(name)))
		}
	}
	for _, name := range []string{"", "X-Meta-B", "X-Meta", "X-Meta-AA"} {
		if h.Get(name) != "" || h.Has(name) {
			t.Errorf("there is no %q", name)
		}
	}
}

func TestSetAndDeleteTakeAllLinesOfAName(t *testing.T) {
	var h Header
	for _, name := range []string{"A", "B", "a", "C"} {
		h.Add(name, name)
	}
	h.Set("A", "new")
	if got := h.Fields(); !slices.Equal(got, []Field{{"B", "B"}, {"C", "C"}, {"A", "new"}}) {
		t.Errorf("%q", got)
	}
	h.Delete("b")
	h.Delete("nothing")
	if h.Has("B") || len(h.Fields()) != 2 {
		t.Errorf("%q", h.Fields())
	}
}

func TestTheMarkOfANameIsThatOfItsOtherCase(t *testing.T) {
	for _, name := range []string{"Host", "X-Request-Id", "ETag", "a", "Z", "_", "X-0"} {
		if mark(name) != mark(strings.ToLower(name)) || mark(name) != mark(strings.ToUpper(name)) {
			t.Error(name)
		}
	}
}

func TestCookiesAreFoundInAllLines(t *testing.T) {
	var x Exchange
	x.Header.Add("Cookie", `a=1; session="s 1"`)
	x.Header.Add("Cookie", "b=2;c=")
	for name, want := range map[string]string{"a": "1", "session": "s 1", "b": "2", "c": "", "d": "", "A": ""} {
		if got := x.Cookie(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func BenchmarkHeaderGet(b *testing.B) {
	var h Header
	for _, name := range []string{"User-Agent", "Accept", "Content-Type", "Content-Length", "X-Request-Id", "Accept-Encoding", "Accept-Language", "Referer"} {
		h.Add(name, "value")
	}
	b.Run("there", func(b *testing.B) {
		for b.Loop() {
			h.Get("X-Request-Id")
		}
	})
	b.Run("absent", func(b *testing.B) {
		for b.Loop() {
			h.Get("X-Request-Timeout")
		}
	})
}
