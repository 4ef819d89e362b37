package actor

import (
	"context"
	"testing"
	"time"
)

type add struct{ N int }
type total struct{}

type counter struct{ total int }

func (c *counter) Init(p *Process, start int) error       { c.total = start; return nil }
func (c *counter) Add(p *Process, m add) error            { c.total += m.N; return nil }
func (c *counter) Total(p *Process, _ total) (int, error) { return c.total, nil }

var counterB = Define("counter", (*counter).Init, OnMessage((*counter).Add), OnCall((*counter).Total))

type start struct {
	to PID
	n  int
}
type ping struct{ I, Seq int }
type pinger struct{}

func (*pinger) Start(p *Process, m start) error {
	for i := range m.n {
		if err := Send(p, m.to, ping{i, i}); err != nil {
			return err
		}
	}
	return nil
}

type ponger struct {
	n, want int
	done    chan struct{}
}

func (q *ponger) Init(p *Process, c pongArgs) error { q.want, q.done = c.want, c.done; return nil }

type pongArgs struct {
	want int
	done chan struct{}
}

func (q *ponger) Ping(p *Process, m ping) error {
	if m.Seq != q.n {
		panic("order")
	}
	q.n++
	if q.n == q.want {
		close(q.done)
	}
	return nil
}

var pingerB = Define[pinger, struct{}]("pinger", nil, OnMessage((*pinger).Start))
var pongerB = Define("ponger", (*ponger).Init, OnMessage((*ponger).Ping))

func benchPing(b *testing.B, pairs int) {
	s := NewSystem(Config{})
	n := b.N/pairs + 1
	var dones []chan struct{}
	b.ResetTimer()
	for range pairs {
		d := make(chan struct{})
		dones = append(dones, d)
		pong, _ := Spawn(s, pongerB, pongArgs{n, d}, SpawnConfig{Mailbox: 64 << 10, Overflow: Wait})
		pi, _ := Spawn(s, pingerB, struct{}{})
		Send(s, pi, start{pong.PID(), n})
	}
	for _, d := range dones {
		<-d
	}
	b.StopTimer()
	s.Stop(context.Background())
}

func BenchmarkPing11(b *testing.B) { benchPing(b, 1) }
func BenchmarkPingNN(b *testing.B) { benchPing(b, 2) }

func BenchmarkCall(b *testing.B) {
	s := NewSystem(Config{})
	pid, _ := Spawn(s, counterB, 5)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Call[int](ctx, s, pid, total{}); err != nil {
			b.Fatal(err)
		}
	}
	s.Stop(ctx)
}

func BenchmarkSpawn(b *testing.B) {
	s := NewSystem(Config{})
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if _, err := Spawn(s, counterB, 5); err != nil {
			b.Fatal(err)
		}
		n++
		if n%1000000 == 0 {
			b.StopTimer()
			s.Stop(context.Background())
			s = NewSystem(Config{})
			b.StartTimer()
		}
	}
	b.StopTimer()
	ctx, c := context.WithTimeout(context.Background(), 5*time.Minute)
	defer c()
	s.Stop(ctx)
}
