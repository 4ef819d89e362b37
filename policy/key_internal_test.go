package policy

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir"
)

// keyOf is the key of a value by the paths; "" where it has none.
func keyOf[T any](tb testing.TB, ctx context.Context, v T, paths ...string) string {
	tb.Helper()
	plan, err := compileKey(reflect.TypeFor[T](), paths)
	if err != nil {
		tb.Fatal(err)
	}
	w := &keyWriter{}
	w.buf = append(w.buf, plainKey)
	plan.write1(w, ctx, unsafe.Pointer(&v))
	for _, write := range plan.more {
		write(w, ctx, unsafe.Pointer(&v))
	}
	if w.bad {
		return ""
	}
	return string(w.buf)
}

func key[T any](tb testing.TB, v T, paths ...string) string {
	return keyOf(tb, tb.Context(), v, paths...)
}

type tree struct {
	Name  string            `json:"name"`
	Count int16             `json:"count"`
	Tags  []string          `json:"tags"`
	Map   map[string]string `json:"map"`
	Any   any               `json:"any"`
	Next  *tree             `json:"next"`
	Kids  []tree            `json:"kids"`
	Raw   []byte            `json:"raw"`
	Pair  [2]bool           `json:"pair"`
	inner uint8
}

// grower makes a tree of bytes: the same bytes make the same tree, and other bytes mostly another one.
type grower struct{ data []byte }

func (g *grower) byte() byte {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return b
}

func (g *grower) text() string {
	n := min(int(g.byte()%8), len(g.data))
	s := string(g.data[:n])
	g.data = g.data[n:]
	return s
}

func (g *grower) tree(depth int) tree {
	t := tree{Name: g.text(), Count: int16(g.byte()), Pair: [2]bool{g.byte()&1 == 0, g.byte()&1 == 0}, inner: g.byte()}
	if n := g.byte() % 4; n > 0 {
		t.Tags = []string{}
		for range n - 1 {
			t.Tags = append(t.Tags, g.text())
		}
	}
	if n := g.byte() % 4; n > 0 {
		t.Map = map[string]string{}
		for range n - 1 {
			t.Map[g.text()] = g.text()
		}
	}
	if g.byte()&1 == 1 {
		t.Raw = []byte(g.text())
	}
	switch g.byte() % 6 {
	case 0:
		t.Any = int(g.byte())
	case 1:
		t.Any = int64(g.byte())
	case 2:
		t.Any = g.text()
	case 3:
		t.Any = []any{g.text(), int(g.byte())}
	case 4:
		t.Any = map[string]any{g.text(): g.text()}
	}
	if depth > 0 && g.byte()&1 == 1 {
		next := g.tree(depth - 1)
		t.Next = &next
	}
	for range g.byte() % 3 {
		if depth > 0 {
			t.Kids = append(t.Kids, g.tree(depth-1))
		}
	}
	return t
}

// Two inputs have one key exactly if they are equal.
func FuzzKeyOfTheWholeInput(f *testing.F) {
	f.Add([]byte("a"), []byte("b"))
	f.Add([]byte{0, 0, 0, 0, 0, 2, 0, 3, 1, 97, 1, 98}, []byte{0, 0, 0, 0, 0, 3, 0, 2, 1, 97, 1, 98})
	f.Add([]byte("\x03abc\x01\x02"), []byte("\x02ab\x01\x02"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := (&grower{a}).tree(3), (&grower{b}).tree(3)
		if same, equal := key(t, x) == key(t, y), reflect.DeepEqual(x, y); same != equal {
			t.Errorf("same key %v, equal %v:\n%+v\n%+v", same, equal, x, y)
		}
		again := (&grower{a}).tree(3)
		if key(t, x) != key(t, again) {
			t.Errorf("two keys of one input: %+v", x)
		}
	})
}

// Keys are drawn from several places; no content of one may pass for another's.
func FuzzKeyOfChosenFields(f *testing.F) {
	f.Add("a", "b", "ab", "")
	f.Add("\x00", "\x01", "", "\x00\x01")
	f.Fuzz(func(t *testing.T, name1, tenant1, name2, tenant2 string) {
		type in struct {
			Name  string            `json:"name"`
			Names map[string]string `json:"names"`
		}
		of := func(name, tenant string) string {
			return keyOf(t, sabir.WithMetadata(t.Context(), "tenant", tenant), in{name, map[string]string{"x": tenant}}, "name", "#tenant", "names.x", "#none")
		}
		if same, equal := of(name1, tenant1) == of(name2, tenant2), name1 == name2 && tenant1 == tenant2; same != equal {
			t.Errorf("same key %v of %q %q and %q %q", same, name1, tenant1, name2, tenant2)
		}
	})
}

func TestKeysOfNestedInputsStayApart(t *testing.T) {
	in := func(v map[string]any) string { return key(t, v) }
	a := in(map[string]any{"a": map[string]any{"b": 1}, "c": 2})
	b := in(map[string]any{"a": map[string]any{"b": 1, "c": 2}})
	if a == b {
		t.Error("{a:{b:1},c:2} and {a:{b:1,c:2}} have one key")
	}
}

func TestKeysTellApart(t *testing.T) {
	type named int
	type flagged struct{ On, Off *bool }
	yes := true
	for what, keys := range map[string][2]string{
		"nil and empty slices":        {key(t, []string(nil)), key(t, []string{})},
		"an empty text and none":      {key(t, []string{}), key(t, []string{""})},
		"where texts are split":       {key(t, []string{"ab", "c"}), key(t, []string{"a", "bc"})},
		"types in interfaces":         {key(t, any(1)), key(t, any(int64(1)))},
		"named types in interfaces":   {key(t, any(1)), key(t, any(named(1)))},
		"nil and zero in interfaces":  {key(t, any(nil)), key(t, any(0))},
		"which pointer is nil":        {key(t, flagged{On: &yes}), key(t, flagged{Off: &yes})},
		"fields that JSON leaves out": {key(t, tree{inner: 1}), key(t, tree{inner: 2})},
		"instants":                    {key(t, time.Unix(1, 0)), key(t, time.Unix(1, 1))},
		"zones":                       {key(t, time.Unix(1, 0).UTC()), key(t, time.Unix(1, 0).In(time.FixedZone("X", 3600)))},
		"numbers":                     {key(t, 1.5), key(t, 2.5)},
		"imaginary parts":             {key(t, 1+2i), key(t, 1+3i)},
	} {
		if keys[0] == keys[1] || keys[0] == "" || keys[1] == "" {
			t.Errorf("%s are not distinguished: %q", what, keys)
		}
	}
}

func TestKeysDoNotTellApart(t *testing.T) {
	type at time.Time
	now, one, other := time.Now(), 5, 5
	many := func(from, step int) map[int]string {
		m := map[int]string{}
		for i := range 100 {
			m[(from+i*step+100)%100] = "x"
		}
		return m
	}
	for what, keys := range map[string][2]string{
		"a time and its monotonic reading":   {key(t, now), key(t, now.Round(0))},
		"times of a named type":              {key(t, at(now)), key(t, at(now.Round(0)))},
		"pointers to equal values":           {key(t, &one), key(t, &other)},
		"maps filled in another order":       {key(t, many(0, 1)), key(t, many(99, -1))},
		"not-a-numbers of the same bits":     {key(t, math.NaN()), key(t, math.NaN())},
		"inputs that differ in other fields": {key(t, tree{Name: "a", Count: 1}, "name"), key(t, tree{Name: "a", Count: 2}, "name")},
	} {
		if keys[0] != keys[1] {
			t.Errorf("%s are distinguished: %q", what, keys)
		}
	}
}

func TestKeyPathsReach(t *testing.T) {
	type base struct {
		ID int `json:"id"`
	}
	type pointed struct {
		Deep string `json:"deep"`
	}
	type in struct {
		base
		*pointed
		Filter *struct {
			Tag string `json:"tag"`
		} `json:"filter"`
		Labels map[string][]string `json:"labels"`
		Any    any                 `json:"any"`
		Plain  string
	}
	full := func(n string) in {
		return in{base: base{len(n)}, pointed: &pointed{n}, Filter: &struct {
			Tag string `json:"tag"`
		}{n}, Labels: map[string][]string{"l": {n}}, Any: map[string]any{"x": map[string]any{"y": n}}, Plain: n}
	}
	for _, path := range []string{"id", "deep", "filter", "filter.tag", "labels", "labels.l", "any", "any.x", "any.x.y", "Plain"} {
		a, b, missing := key(t, full("a"), path), key(t, full("bb"), path), key(t, in{}, path)
		if a == b || a == missing || b == missing {
			t.Errorf("%s does not reach its field: %q, %q, %q", path, a, b, missing)
		}
		if a != key(t, full("a"), path) {
			t.Errorf("%s has two keys for one input", path)
		}
	}
	if x, y := key(t, in{Any: 1}, "any.x"), key(t, in{Any: map[string]any{}}, "any.x"); x != y {
		t.Errorf("two keys for nothing at any.x: %q, %q", x, y)
	}
}

func TestKeyPathsThatReachNothingAreRefused(t *testing.T) {
	for path, want := range map[string]string{
		"nam":      `no field "nam"; it has name, count, tags, map, any, next, kids, raw, pair`,
		"Name":     `no field "Name"`,
		"inner":    `no field "inner"`,
		"name.x":   `no "x" in a string`,
		"tags.0":   `no "0" in a []string`,
		"next.nam": `no field "nam"`,
		"#":        "lacks the name",
	} {
		if _, err := compileKey(reflect.TypeFor[tree](), []string{path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

func TestTypesWithFunctionsAreNoKeys(t *testing.T) {
	type in struct {
		Do []func() `json:"do"`
		ID int      `json:"id"`
	}
	if _, err := compileKey(reflect.TypeFor[in](), nil); err == nil || !strings.Contains(err.Error(), "field Do") {
		t.Errorf("got %v", err)
	}
	if key(t, in{ID: 1}, "id") == key(t, in{ID: 2}, "id") {
		t.Error("another field of it is no key")
	}
	if k := key(t, any(func() {})); k != "" {
		t.Errorf("a function in an interface has the key %q", k)
	}
}

func TestInputsThatReferToThemselvesHaveNoKey(t *testing.T) {
	round := tree{}
	round.Next = &round
	self := map[string]any{}
	self["self"] = self
	type fork struct{ A, B *fork }
	wide := &fork{}
	for range maxKeyDepth / 2 {
		wide = &fork{wide, wide}
	}
	for what, k := range map[string]string{"a ring": key(t, round), "a map in itself": key(t, self), "what doubles at each level": key(t, wide)} {
		if k != "" {
			t.Errorf("%s has a key of %d bytes", what, len(k))
		}
	}
}

func TestTypeNamesTellTypesOfOneNameApart(t *testing.T) {
	first := func() reflect.Type { type x struct{ A int }; return reflect.TypeFor[x]() }()
	second := func() reflect.Type { type x struct{ B int }; return reflect.TypeFor[x]() }()
	one, other := typeName(first), typeName(second)
	if one == other || one != typeName(first) {
		t.Errorf("%q and %q", one, other)
	}
}

func TestLongKeysAreHashed(t *testing.T) {
	s := sabir.NewService("test")
	lengths := make(chan int, 2)
	spy := sabir.Middleware{Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		plan, err := compileKey(a.In, nil)
		return func(ctx context.Context, r *sabir.Request) error {
			w := &keyWriter{}
			plan.write(w, ctx, r)
			lengths <- len(w.buf)
			if !bytes.HasPrefix(w.buf, []byte{hashedKey}) && len(w.buf) > maxKeyLength {
				t.Errorf("a key of %d bytes is written out", len(w.buf))
			}
			return err
		}
	}}
	sabir.Handle(s, "run", func(context.Context, string) (int, error) { return 1, nil }, sabir.Use(spy))
	node := sabir.NewNode(sabir.Serve(s))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	for _, n := range []int{10, 1 << 20} {
		if _, err := sabir.Call[int](t.Context(), node, "test.run", strings.Repeat("x", n)); err != nil {
			t.Fatal(err)
		}
	}
	if short, long := <-lengths, <-lengths; short != 12 || long != 33 {
		t.Errorf("keys of %d and %d bytes, want 12 and 33", short, long)
	}
}
