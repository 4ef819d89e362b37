package grain_test

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/actortest"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

type bare struct{ sum int }

type look struct{ N int }

var bares = actor.Define[bare, struct{}]("bare", nil, actor.OnCall(func(b *bare, _ *actor.Process, m look) (int, error) {
	b.sum += m.N
	return b.sum, nil
}))

type light struct{ grain.State[tally] }

func (l *light) Look(_ *actor.Process, m look) (int, error) {
	l.Value.Sum += m.N
	return l.Value.Sum, nil
}

func (l *light) Tell(_ *actor.Process, m note) error { l.Value.Sum += m.I; return nil }

var lights = grain.Define("light", grain.OnCall((*light).Look), grain.OnMessage((*light).Tell))

// BenchmarkCall is a call of an active grain against that of a process.
func BenchmarkCall(b *testing.B) {
	system, _ := start(b, grain.Config{}, lights)
	b.Run("process", func(b *testing.B) {
		pid, err := actor.Spawn(system, bares, struct{}{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := actor.Call[int](b.Context(), system, pid, look{1}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("grain", func(b *testing.B) {
		to := lights.Key("x")
		b.ReportAllocs()
		for b.Loop() {
			if _, err := grain.Call[int](b.Context(), system, to, look{1}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCallToAnotherNode is a call from another node in this process, over TCP.
func BenchmarkCallToAnotherNode(b *testing.B) {
	w := newCluster(b, store.Memory())
	near, far := w.join("near"), w.join("far", lights)
	agree(b, "light", 1, near, far)
	b.Run("process", func(b *testing.B) {
		pid, err := actor.Spawn(far, bares, struct{}{})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := actor.Call[int](b.Context(), near, pid, look{1}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("grain", func(b *testing.B) {
		to := lights.Key("x")
		for b.Loop() {
			if _, err := grain.Call[int](b.Context(), near, to, look{1}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSend is messages to one grain, with a call after each thousand.
func BenchmarkSend(b *testing.B) {
	system, _ := start(b, grain.Config{}, lights)
	to := lights.Key("x")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := grain.Send(system, to, note{1}); err != nil {
			b.Fatal(err)
		}
		if i%1000 == 999 {
			if _, err := grain.Call[int](b.Context(), system, to, look{1}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkActivate is the first call of one grain after another, with a store in memory.
func BenchmarkActivate(b *testing.B) {
	system, g := start(b, grain.Config{}, lights)
	i := 0
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		i++
		if err := grain.Send(system, lights.Key(strconv.Itoa(i)), note{1}); err != nil {
			b.Fatal(err)
		}
	}
	for g.Stats().Loaded < int64(i) {
		runtime.Gosched()
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "activations/s")
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(i), "B/grain")
}

// lamp counts the messages that were handled.
type lamp struct{ light }

var lampsHandled atomic.Int64

func (l *lamp) Tell(p *actor.Process, m note) error {
	lampsHandled.Add(1)
	return l.light.Tell(p, m)
}

var lamps = grain.Define("lamp", grain.OnMessage((*lamp).Tell))

// BenchmarkIdle is the looks at a million grains of which none is idle yet, four in each IdleAfter, and then all of them
// coming to rest.
func BenchmarkIdle(b *testing.B) {
	c := newClock()
	system, g := startOn(b, actortest.NewSystem(actor.Config{}, c), grain.Config{IdleAfter: time.Hour}, lamps)
	const n = 1_000_000
	handled := lampsHandled.Load() + n
	for i := range n {
		if err := grain.Send(system, lamps.Key(strconv.Itoa(i)), note{1}); err != nil {
			b.Fatal(err)
		}
	}
	for lampsHandled.Load() < handled { // one that is used after the first look rests a look later
		runtime.Gosched()
	}
	began := time.Now()
	for range 4 {
		c.advance(15 * time.Minute)
		until(b, "the look is over", func() bool { return c.waits(15 * time.Minute) })
	}
	want(b, "active", g.Stats().Active, n)
	b.ReportMetric(float64(time.Since(began).Milliseconds())/4, "ms/look")
	began = time.Now()
	c.advance(15 * time.Minute)
	// A callback that had counted its message may not have ended before the first look, and its grain then rests a look later.
	until(b, "all rest but those that ended last", func() bool { return g.Stats().Active <= int64(runtime.GOMAXPROCS(0)) })
	b.ReportMetric(n/time.Since(began).Seconds(), "rests/s")
	until(b, "the look is over", func() bool { return c.waits(15 * time.Minute) })
	c.advance(15 * time.Minute)
	until(b, "all rest", func() bool { return g.Stats().Active == 0 })
}
