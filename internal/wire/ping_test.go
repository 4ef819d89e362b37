package wire

import (
	"net"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// far is a connection over which each write takes a millisecond.
type far struct{ net.Conn }

func (f far) Write(b []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return f.Conn.Write(b)
}

// farPair is a link between two nodes that are a millisecond apart, as it is over a socket of the system.
func farPair(client, server Config) pair {
	client.Node, server.Node = "client", "server"
	a, b := net.Pipe()
	p := pair{New(far{a}, peerOfTest(server, true), client, newNode()), New(far{b}, peerOfTest(client, false), server, newNode())}
	p.server.health.mu.Lock()
	p.server.health.listens = true // as over a socket of the system
	p.server.health.mu.Unlock()
	return p
}

func (p pair) close() {
	p.client.Close(nil)
	p.server.Close(nil)
	<-p.client.finished
	<-p.server.finished
}

func TestOverASocketOnlyTheSideThatDialledPings(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p := farPair(Config{Load: func() Load { return Load{Calls: 7} }}, Config{})
		defer p.close()
		time.Sleep(5 * DefaultPingInterval) // the first pings are of both
		sent, answered := p.client.Stats().FramesOut, p.server.Stats().FramesOut
		time.Sleep(10 * DefaultPingInterval)
		sent, answered = p.client.Stats().FramesOut-sent, p.server.Stats().FramesOut-answered
		if sent != 10 || answered != 10 {
			t.Errorf("in ten intervals the side that dialled sent %d frames and the other one %d, want 10 pings and as many pongs", sent, answered)
		}
		if p.server.RTT() == 0 || p.server.RTT() != p.client.RTT() || p.server.Load().Calls != 7 {
			t.Errorf("the side that does not ping knows of a round trip of %v, where it took %v, and of a load of %+v", p.server.RTT(), p.client.RTT(), p.server.Load())
		}
	})
}

func TestASideThatIsNotPingedPings(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p := farPair(Config{PingInterval: time.Hour, SilenceLimit: 2 * time.Hour}, Config{})
		defer p.close()
		time.Sleep(2 * DefaultPingInterval)
		answered := p.client.Stats().FramesOut
		time.Sleep(10 * DefaultPingInterval)
		if answered = p.client.Stats().FramesOut - answered; answered != 10 {
			t.Errorf("the side that never pings sent %d pongs in ten intervals of the other one, want 10", answered)
		}
	})
}

func TestLinksOfANodeLookAtTheSameMoment(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		const interval = time.Second
		here, there := Config{Node: "here"}, Config{Node: "there"}
		next := func(c Config, after time.Duration) time.Duration { // of a link of the node that is made then
			time.Sleep(after)
			a, b := net.Pipe()
			defer b.Close()
			l := New(a, peerOfTest(Config{Node: "peer"}, true), c, newNode())
			defer func() { l.Close(nil); b.Close(); <-l.finished }()
			left := l.health.untilLook(interval)
			if left < interval/2 || left > 3*interval/2 {
				t.Errorf("the next look comes after %v", left)
			}
			return time.Duration(time.Now().Add(left).UnixNano()) % interval
		}
		first := next(here, 0)
		for _, after := range []time.Duration{time.Millisecond, 333 * time.Millisecond, 777 * time.Millisecond} {
			if at := next(here, after); at != first {
				t.Errorf("a link that is made %v later looks at %v of each second, the first one at %v", after, at, first)
			}
		}
		if next(there, 0) == first {
			t.Error("two nodes look at the same moment")
		}
	})
}
