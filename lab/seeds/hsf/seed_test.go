package hsf

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

func TestSharesOfTheDistributionAreOfAllCalls(t *testing.T) {
	ms := int64(time.Millisecond)
	got := distribution(child.Latencies{{ms / 10, 50}, {ms / 4, 10}, {7 * ms, 30}, {499 * ms, 5}, {500 * ms, 2}, {9000 * ms, 3}})
	var all float64
	for _, share := range got {
		all += share
	}
	if all != 100 {
		t.Errorf("all shares together are %v", all)
	}
	for key, want := range map[string]float64{"0 ~ 0.25 ms": 50, "0.25 ~ 0.5 ms": 10, "5 ~ 10 ms": 30, "300 ~ 500 ms": 5, beyond: 5, "1 ~ 2 ms": 0} {
		if share, there := got[key]; !there || share != want {
			t.Errorf("%s has %v%%, want %v", key, share, want)
		}
	}
}

func TestEveryBucketIsAColumn(t *testing.T) {
	columns := map[string]bool{}
	for _, c := range distributionTable().Columns {
		columns[c.Key] = true
	}
	for key := range distribution(nil) {
		if !columns[key] {
			t.Errorf("%s is not in the table", key)
		}
	}
}

func TestProxyCountsBothDirections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := io.ReadFull(conn, make([]byte, 3)); err == nil {
			conn.Write([]byte("answer"))
		}
	}()
	p, err := startProxy(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	_, port, err := net.SplitHostPort(p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("ask")); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(conn); err != nil || string(text) != "answer" {
		t.Errorf("got %q, %v", text, err)
	}
	if sent, received := p.sent.Load(), p.received.Load(); sent != 3 || received != 6 {
		t.Errorf("%d bytes sent and %d received", sent, received)
	}
}
