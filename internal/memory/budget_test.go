package memory

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

const mib = 1 << 20

func TestWhatHasNoSpaceIsRefusedAndCounted(t *testing.T) {
	b := New(Limits{Node: 4 * mib, Connection: 2 * mib})
	first, second, third := b.Connection(), b.Connection(), b.Connection()
	for _, step := range []struct {
		what  string
		of    *Account
		bytes int
		fits  bool
	}{
		{"the first of a connection", first, mib, true},
		{"what fills the connection", first, mib, true},
		{"more than the connection may hold", first, Small, false},
		{"another connection", second, 2 * mib, true},
		{"more than the node may hold", third, 2 * mib, false},
		{"a small value", third, Small - 1, true},
	} {
		if got := step.of.Take(step.bytes); got != step.fits {
			t.Errorf("%s: %v", step.what, got)
		}
	}
	if got, want := b.Usage(), (Usage{Bytes: 4 * mib, Limit: 4 * mib, Refused: 2}); got != want {
		t.Errorf("counted are %+v, want %+v", got, want)
	}
	first.Give(mib)
	if !third.Take(mib) {
		t.Error("what was given back cannot be taken")
	}
}

func TestAValueLargerThanItsBoundIsTakenAlone(t *testing.T) {
	b := New(Limits{Node: 4 * mib, Connection: 2 * mib})
	c := b.Connection()
	if !c.Take(3 * mib) {
		t.Error("not taken although nothing waits")
	}
	if c.Take(3 * mib) {
		t.Error("taken beside another")
	}
	c.Give(3 * mib)
	if !c.Take(5 * mib) {
		t.Error("not taken although it is larger than the bound of the node too, and nothing waits")
	}
}

func TestAValueThatGrowsCountsOnce(t *testing.T) {
	b := New(Limits{Node: 4 * mib, Connection: 2 * mib})
	c := b.Connection()
	for from := 0; from < 2*mib; from += mib / 4 {
		if !c.Grow(from, from+mib/4) {
			t.Fatalf("refused at %d bytes", from)
		}
	}
	if b.Usage().Bytes != 2*mib {
		t.Errorf("%d bytes are counted", b.Usage().Bytes)
	}
	other := b.Connection()
	other.Hold(Small) // too little to be reported
	if !c.Grow(2*mib, 3*mib) {
		t.Error("a value that is alone on its connection may not be larger than its bound")
	}
	c.Hold(mib)
	if c.Grow(3*mib, 4*mib) || b.Usage().Bytes != 4*mib {
		t.Errorf("it grew beside another, or counts otherwise than before: %d bytes", b.Usage().Bytes)
	}
}

func TestAQueueMayHoldAnEighthOfTheNode(t *testing.T) {
	b := New(Limits{Node: 8 * mib})
	stuck, other := b.Queue(), b.Queue()
	if !stuck.Take(mib/2) || !stuck.Take(mib/2) || stuck.Take(Small) {
		t.Error("the queue does not take an eighth, or more")
	}
	if !other.Take(mib) {
		t.Error("another queue has no space behind it")
	}
}

func TestWhoCanWaitGetsWhatIsGivenBack(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b := New(Limits{Node: mib})
		c := b.Connection()
		c.Hold(mib)
		time.AfterFunc(time.Second, func() { c.Give(mib) })
		start := time.Now()
		if !c.TakeWithin(t.Context(), mib) || time.Since(start) > time.Second+takeEvery {
			t.Errorf("not taken, or after %v", time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if c.TakeWithin(ctx, mib) || b.Usage().Refused != 1 || b.Usage().Bytes != mib {
			t.Errorf("without space: %+v", b.Usage())
		}
	})
}

func TestNothingIsLostOfWhatManyTakeAndGiveAtOnce(t *testing.T) {
	b := New(Limits{Node: 64 * mib})
	var all sync.WaitGroup
	for range 8 {
		c := b.Connection()
		for range 4 {
			all.Go(func() {
				for i := range 2000 {
					n := (i%7 + 1) * 10 * Small
					if c.Take(n) {
						c.Give(n)
					}
				}
			})
		}
	}
	all.Wait()
	if got := b.Usage().Bytes; got != 0 {
		t.Errorf("%d bytes are still counted", got)
	}
}

func TestStreamsThatStandStillAreEndedForOthersTheLongestFirst(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b := New(Limits{Node: 8 * mib}) // of which streams may hold one
		c := b.Connection()
		var ended sync.Map
		window := func(name string) *Window {
			var w *Window
			w = c.Window(func() {
				ended.Store(name, true)
				w.Close()
			})
			return w
		}
		still, slow, last := window("still"), window("slow"), window("last")
		still.Add(mib / 2)
		time.Sleep(time.Second)
		slow.Add(mib / 2)
		go func() {
			for range 40 {
				time.Sleep(100 * time.Millisecond)
				slow.Progress()
			}
		}()
		last.Add(mib / 2)
		time.Sleep(2 * time.Second)
		for name, want := range map[string]bool{"still": true, "slow": false, "last": false} {
			if _, got := ended.Load(name); got != want {
				t.Errorf("%s: ended is %v", name, got)
			}
		}
		if b.Usage().Ended != 1 || b.Usage().Streams != mib {
			t.Errorf("counted are %+v", b.Usage())
		}
		slow.Close()
		last.Close()
		time.Sleep(4 * time.Second) // for the goroutines
	})
}

func TestAStreamIsNotEndedForTheTimeInWhichTheProcessDidNotRun(t *testing.T) {
	b := New(Limits{Node: 8 * mib})
	b.relieving.Store(true) // this test looks itself
	w, other := b.Connection().Window(func() {}), b.Connection().Window(func() {})
	w.Add(mib)
	other.Add(mib)
	begun := time.Now()
	b.look(begun)
	late := begun.Add(10 * time.Second)
	if over, ending := b.look(late); !over || len(ending) > 0 {
		t.Fatalf("after ten seconds without a look %d streams are ended; more than they may hold: %v", len(ending), over)
	}
	for n := range 2 * int(standstill/lookEvery) {
		if _, ending := b.look(late.Add(time.Duration(n) * lookEvery)); len(ending) > 0 {
			return
		}
	}
	t.Error("no stream was ended, though none was read for two seconds")
}

func TestALateLookCountsForNoMoreThanAPause(t *testing.T) {
	b := New(Limits{Node: 8 * mib})
	b.relieving.Store(true) // this test looks itself
	w, other := b.Connection().Window(func() {}), b.Connection().Window(func() {})
	w.Add(4 * mib)
	other.Add(4 * mib)
	looked := time.Now()
	for looks := 1; ; looks++ {
		looked = looked.Add(10 * lookEvery)
		if _, ending := b.look(looked); len(ending) == 0 {
			continue
		}
		if want := int(hardStandstill / lookEvery); looks != want {
			t.Errorf("a stream was ended after %d late looks, want %d", looks, want)
		}
		return
	}
}
