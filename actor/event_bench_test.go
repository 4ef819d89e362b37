package actor

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

type tick struct {
	N  int
	At int64
}

// listener counts what it gets; the last one signals that a round is over.
type listener struct{ field *field }

type field struct {
	left atomic.Int64
	over chan struct{}
}

func (l *listener) Init(p *Process, f *field) error { l.field = f; return nil }
func (l *listener) Tick(p *Process, m tick) error {
	if l.field.left.Add(-1) == 0 {
		l.field.over <- struct{}{}
	}
	return nil
}

type subscribe struct{ event Name }

func (l *listener) Subscribe(p *Process, m subscribe) (struct{}, error) {
	return struct{}{}, p.Subscribe(m.event)
}

var listenerB = Define("listener", (*listener).Init, OnMessage((*listener).Tick), OnCall((*listener).Subscribe))

type subscribedInit struct{ listener }

func (l *subscribedInit) Init(p *Process, f *field) error {
	l.field = f
	return p.Subscribe(Name{Name: "ticks"})
}
func (l *subscribedInit) Tick(p *Process, m tick) error { return l.listener.Tick(p, m) }

var subscribedB = Define("subscribed", (*subscribedInit).Init, OnMessage((*subscribedInit).Tick))

type announcer struct{}

func (a *announcer) Init(p *Process, made chan *Topic[tick]) error {
	ev, err := NewTopic[tick](p, "ticks", TopicConfig{})
	made <- ev
	return err
}

var announcerB = Define("announcer", (*announcer).Init, OnAnyMessage(func(*announcer, *Process, any) error { return nil }))

func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{1, 100, 10_000, 1_000_000} {
		b.Run("subscribers="+strconv.Itoa(n), func(b *testing.B) {
			s := NewSystem(Config{})
			made := make(chan *Topic[tick], 1)
			if _, err := Spawn(s, announcerB, made); err != nil {
				b.Fatal(err)
			}
			ev := <-made
			f := &field{over: make(chan struct{}, 1)}
			begin := time.Now()
			for range n {
				if _, err := Spawn(s, subscribedB, f); err != nil {
					b.Fatal(err)
				}
			}
			b.Logf("%d subscribed in %s", n, time.Since(begin))
			b.ReportAllocs()
			before := processorTime()
			for b.Loop() {
				f.left.Store(int64(n))
				if err := ev.Publish(s, tick{N: 1}); err != nil {
					b.Fatal(err)
				}
				<-f.over
			}
			reportDeliveries(b, n, before)
			stopFor(b, s)
		})
	}
}

// BenchmarkSendAll is the baseline of BenchmarkPublish: a Send for each process.
func BenchmarkSendAll(b *testing.B) {
	const n = 1_000_000
	s := NewSystem(Config{})
	f := &field{over: make(chan struct{}, 1)}
	pids := make([]PID, n)
	for i := range pids {
		pids[i], _ = listenerB.Spec(f).Start(s)
	}
	before := processorTime()
	for b.Loop() {
		f.left.Store(n)
		for _, pid := range pids {
			Send(s, pid, tick{N: 1})
		}
		<-f.over
	}
	reportDeliveries(b, n, before)
	stopFor(b, s)
}

// reportDeliveries reports the rate, and what a delivery takes of the processors, which depends less on what else they do.
func reportDeliveries(b *testing.B, n int, before time.Duration) {
	used := processorTime() - before
	b.StopTimer()
	deliveries := float64(n) * float64(b.N)
	b.ReportMetric(deliveries/b.Elapsed().Seconds()/1e6, "Mdeliveries/s")
	b.ReportMetric(float64(used.Nanoseconds())/deliveries, "cpu-ns/delivery")
}

func stopFor(b *testing.B, s *System) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	s.Stop(ctx)
}
