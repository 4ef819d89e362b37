package recent

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

func TestACacheRemembersTheFirstValueOfAKey(t *testing.T) {
	c := New[string, int](10)
	if _, ok := c.Get("a"); ok {
		t.Fatal("found what was never added")
	}
	if first, second := c.Add("a", 1), c.Add("a", 2); first != 1 || second != 1 {
		t.Fatalf("added %d and %d", first, second)
	}
	if value, ok := c.Get("a"); !ok || value != 1 {
		t.Fatalf("got %d, %v", value, ok)
	}
	c.Clear()
	if _, ok := c.Get("a"); ok || c.Len() != 0 {
		t.Fatal("found after Clear")
	}
}

func TestACacheForgetsWhatItIsAskedTo(t *testing.T) {
	c := New[int, string](1000)
	for i := range 100 {
		c.Add(i, "value")
	}
	c.DeleteFunc(func(i int, _ string) bool { return i%2 == 1 })
	for i := range 100 {
		if _, ok := c.Get(i); ok != (i%2 == 0) {
			t.Errorf("%d is there: %v", i, ok)
		}
	}
	if c.Len() != 50 {
		t.Errorf("%d entries", c.Len())
	}
}

func TestACacheNeverHoldsMoreThanItsLimit(t *testing.T) {
	for _, limit := range []int{1, 2, 7, 8, 100, 4096} {
		c := New[int, int](limit)
		for i := range 3*limit + 200 {
			c.Add(i, i)
			if n := c.Len(); n > limit {
				t.Fatalf("limit %d: %d entries", limit, n)
			}
		}
		count := 0
		for key, value := range c.All {
			if key != value {
				t.Fatalf("%d has %d", key, value)
			}
			count++
		}
		if count != c.Len() {
			t.Errorf("limit %d: All shows %d of %d", limit, count, c.Len())
		}
	}
}

func TestWhatIsAskedForStaysAmongAMillionThatAreNot(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c := New[string, int](4096)
	hot := []string{"user.created", "user.deleted", "order.paid"}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	lost := 0
	for i := range 1_000_000 {
		c.Add(fmt.Sprintf("user.%d.seen", i), i)
		if i%100 == 0 { // less often than one of a hundred
			for _, name := range hot {
				if _, ok := c.Get(name); !ok {
					lost++
					c.Add(name, 0)
				}
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if lost > len(hot) {
		t.Errorf("what is used was forgotten %d times", lost-len(hot))
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
		t.Errorf("%d bytes are held", grown)
	}
	runtime.KeepAlive(c)
}

// The first ones would otherwise stay for ever, and all that come later find no place.
func TestNamesThatComeLaterGetAPlace(t *testing.T) {
	c := New[int, int](1000)
	for i := range 1000 {
		c.Add(i, i)
		c.Get(i)
	}
	found := 0
	for range 10 {
		found = 0
		for i := 5000; i < 5500; i++ {
			if _, ok := c.Get(i); ok {
				found++
			} else {
				c.Add(i, i)
			}
		}
	}
	if found < 500 {
		t.Errorf("%d of 500 are remembered", found)
	}
}

func TestGetOfWhatIsThereAllocatesNothing(t *testing.T) {
	c := New[string, int](4096)
	for i := range 5000 {
		c.Add(fmt.Sprint(i), i)
	}
	c.Add("name", 1)
	if n := testing.AllocsPerRun(10_000, func() { c.Get("name") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestACacheIsUsedByManyAtOnce(t *testing.T) {
	c := New[int, int](100)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 20_000 {
				key := i % 300
				if value, ok := c.Get(key); ok && value != key {
					t.Errorf("%d has %d", key, value)
				}
				if kept := c.Add(key, key); kept != key {
					t.Errorf("%d has %d", key, kept)
				}
			}
		})
	}
	all.Wait()
	if c.Len() > 100 {
		t.Errorf("%d entries", c.Len())
	}
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{1, 4096} {
		c := New[string, int](4096)
		for i := range n {
			c.Add(fmt.Sprintf("user.%d.created", i), i)
		}
		c.Add("user.created", 1)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Get("user.created")
			}
		})
	}
}

func BenchmarkAddNew(b *testing.B) {
	c := New[int, int](4096)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Add(i, i)
	}
}

func TestACacheSaysWhenItIsHalfFull(t *testing.T) {
	c := New[int, int](100)
	for i := range 49 {
		c.Add(i, i)
	}
	if c.HalfFull() {
		t.Error("49 of 100 entries are half of them")
	}
	c.Add(49, 49)
	if !c.HalfFull() {
		t.Error("50 of 100 entries are not half of them")
	}
}
