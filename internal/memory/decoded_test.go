package memory

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

type large struct{ Numbers [25]int }

// The estimate must hold for the documents that take the most, and must not be far above for those that programs send.
func TestWhatADocumentTakesAsAValueIsEstimated(t *testing.T) {
	list := func(element string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	order := `{"id":"o-4711","customer":{"name":"Ada Lovelace","mail":"ada@example.com"},"total":1200,"note":null,"lines":[{"sku":"a-1","count":2},{"sku":"b-2","count":1}]}`
	for _, test := range []struct {
		name, document string
		into           any
		most           int // times what it takes
	}{
		{"maps of one entry into any", list(`{"a":1}`, 20_000), new(any), 3},
		{"empty lists into any", list(`[]`, 50_000), new(any), 3},
		{"numbers into any", list(`0`, 50_000), new(any), 3},
		{"empty structs", list(`{}`, 50_000), new([]large), 3},
		{"nothing, for structs", list(`null`, 50_000), new([]large), 3},
		{"arrays", list(`[]`, 50_000), new([][25]int), 3},
		{"maps of maps", list(`{"a":{"b":1}}`, 10_000), new([]map[string]map[string]int), 3},
		{"orders into any", list(order, 1000), new(any), 3},
	} {
		before := heap()
		if err := json.Unmarshal([]byte(test.document), test.into); err != nil {
			t.Fatal(test.name, err)
		}
		takes := heap() - before
		estimate := growthOf(reflect.TypeOf(test.into).Elem()).of([]byte(test.document))
		if estimate < takes/2 || estimate > test.most*takes {
			t.Errorf("%s: %d bytes of JSON take %d, the estimate is %d", test.name, len(test.document), takes, estimate)
		}
		runtime.KeepAlive(test.into)
	}
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestDocumentsThatTakeMuchAreRefusedBesideOthers(t *testing.T) {
	b := New(Limits{Node: 8 << 20})
	document := []byte("[" + strings.Repeat(`{"a":1},`, 50_000) + `{}]`)
	anything := reflect.TypeFor[any]()
	var held []int
	for {
		n, ok := b.Decode(anything, document)
		if !ok {
			break
		}
		held = append(held, n)
	}
	if len(held) != decodedShare {
		t.Errorf("%d documents are taken, each of which alone would take twice the limit, want %d", len(held), decodedShare)
	}
	for _, n := range held {
		b.Own().Give(n)
	}
	if used := b.Usage().Bytes; used != 0 {
		t.Errorf("%d bytes are still counted", used)
	}
	if n, ok := b.Decode(reflect.TypeFor[struct{ Name string }](), document); n != 0 || !ok {
		t.Errorf("a type that cannot grow counts with %d bytes (%v)", n, ok)
	}
}
