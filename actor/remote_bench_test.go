package actor_test

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/cluster"
)

// trade is a message of 64 bytes in memory.
type trade struct {
	Seq, Account, Order, Quantity int64
	Price, Fee                    float64
	At, Venue                     int64
}

type (
	countTo struct{ N int }
	flood   struct {
		To actor.PID
		N  int
	}
	whoIs struct{}
)

// sink counts messages.
type sink struct {
	n       int
	last    int64
	want    int
	waiting actor.Request
}

func (s *sink) Trade(p *actor.Process, m trade) error {
	if m.Seq != s.last+1 {
		panic("order")
	}
	s.last = m.Seq
	s.n++
	s.answer(p)
	return nil
}

func (s *sink) answer(p *actor.Process) {
	if s.want > 0 && s.n >= s.want {
		actor.Reply(p, s.waiting, s.n)
		s.n, s.last, s.want = 0, 0, 0
	}
}

func (s *sink) CountTo(p *actor.Process, m countTo) (int, error) {
	s.want, s.waiting = m.N, p.Request()
	s.answer(p)
	return 0, actor.ErrNoReply
}

func (s *sink) Echo(_ *actor.Process, m trade) (trade, error)      { return m, nil }
func (s *sink) WhoIs(p *actor.Process, _ whoIs) (actor.PID, error) { return p.PID(), nil }

var sinkBehavior = actor.Define[sink, struct{}]("sink", nil,
	actor.OnMessage((*sink).Trade), actor.OnCall((*sink).CountTo), actor.OnCall((*sink).Echo), actor.OnCall((*sink).WhoIs))

// source sends messages as fast as it can.
type source struct{}

func (*source) Flood(p *actor.Process, m flood) error {
	for i := range m.N {
		if err := actor.Send(p, m.To, trade{Seq: int64(i + 1), Account: 4711, Order: 1 << 40, Quantity: 100, Price: 12.5, Fee: 0.25, At: 1 << 60, Venue: 3}); err != nil {
			return err
		}
	}
	return nil
}

var sourceBehavior = actor.Define[source, struct{}]("source", nil, actor.OnMessage((*source).Flood))

func benchmarkFlood(b *testing.B, from member, to ...actor.Name) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var sources, sinks []actor.PID
	for _, name := range to {
		pid, err := actor.Call[actor.PID](ctx, from, name, whoIs{})
		if err != nil {
			b.Fatal(err)
		}
		source, err := actor.Spawn(from, sourceBehavior, struct{}{})
		if err != nil {
			b.Fatal(err)
		}
		sources, sinks = append(sources, source.PID()), append(sinks, pid)
	}
	n := b.N/len(to) + 1
	b.ReportAllocs()
	b.ResetTimer()
	for i, source := range sources {
		_ = actor.Send(from, source, flood{sinks[i], n})
	}
	for _, pid := range sinks {
		if _, err := actor.Call[int](ctx, from, pid, countTo{n}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

func benchmarkCall(b *testing.B, from member, to actor.Name) {
	ctx := context.Background()
	pid, err := actor.Call[actor.PID](ctx, from, to, whoIs{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := actor.Call[trade](ctx, from, pid, trade{Seq: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRemote is messages and calls from one node to another over TCP on the loopback: in one process, and to a process of
// its own.
func BenchmarkRemote(b *testing.B) {
	kinds := map[string]func(b *testing.B) (member, string){
		"same": func(b *testing.B) (member, string) {
			m := joinMembers(b, "tcp://127.0.0.1:0", "a", "b")
			for _, name := range []string{"sink", "sink1"} {
				if _, err := actor.Spawn(m[1], sinkBehavior, struct{}{}, actor.SpawnConfig{Name: name}); err != nil {
					b.Fatal(err)
				}
			}
			return m[0], "b"
		},
		"process": func(b *testing.B) (member, string) {
			c := startChild(b, "b")
			m := startMember(b, "a", "tcp://127.0.0.1:0", cluster.Config{Seeds: []string{c.address}})
			m.awaitNode(b, "b")
			return m, "b"
		},
	}
	for _, where := range []string{"same", "process"} {
		b.Run("send/1-1/"+where, func(b *testing.B) {
			m, node := kinds[where](b)
			benchmarkFlood(b, m, actor.Name{Name: "sink", Node: node})
		})
		b.Run("send/2-2/"+where, func(b *testing.B) {
			m, node := kinds[where](b)
			benchmarkFlood(b, m, actor.Name{Name: "sink", Node: node}, actor.Name{Name: "sink1", Node: node})
		})
		b.Run("call/"+where, func(b *testing.B) {
			m, node := kinds[where](b)
			benchmarkCall(b, m, actor.Name{Name: "sink", Node: node})
		})
	}
}
