package mesh

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/sabir-go/sabir/internal/membership"
)

func TestPacketsAreReadAsTheyWereWritten(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	go func() {
		defer b.Close()
		for _, packet := range []string{"one", "another"} {
			if writePacket(b, []byte(packet)) != nil {
				return
			}
		}
	}()
	for _, want := range []string{"one", "another"} {
		if got, err := readPacket(a); err != nil || string(got) != want {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if _, err := readPacket(a); err != io.EOF {
		t.Error(err)
	}
}

func FuzzReadPacket(f *testing.F) {
	f.Add([]byte{3, 0, 'o', 'n', 'e', 1, 0})
	f.Add([]byte{0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			packet, err := readPacket(r)
			if err != nil {
				return
			}
			if len(packet) == 0 {
				t.Fatal("a packet of no bytes")
			}
		}
	})
}

// A probe that began before the end of membership may go on after it: what it starts then would outlive the node.
func TestNoConnectionForPacketsIsMadeAfterTheEnd(t *testing.T) {
	c := packetConns{mesh: &Mesh{}, conns: make(map[string]*packetConn)}
	c.close()
	if c.send(membership.Member{ID: "n", Addr: "mem://n"}, []byte("probe")) || len(c.conns) > 0 {
		t.Error("a connection is made")
	}
}
