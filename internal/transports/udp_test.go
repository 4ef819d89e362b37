package transports_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func TestAUDPSocketIsBoundAndItsAddressCanBeDialled(t *testing.T) {
	udp, addr, err := transports.ListenUDP(t.Context(), parse(t, "kcp://:0"), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	to, err := transport.Config{}.DialAddr(parse(t, addr))
	if err != nil {
		t.Fatal(err)
	}
	if want := udp.LocalAddr().String(); to != want || !strings.HasPrefix(addr, "kcp://127.0.0.1:") {
		t.Errorf("the socket at %s has the address %s", want, addr)
	}
	peer, err := net.Dial("udp", to)
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	peer.Write([]byte("x"))
	if n, _, err := udp.ReadFrom(make([]byte, 2)); n != 1 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if _, _, err := transports.ListenUDP(t.Context(), parse(t, addr), transport.Config{}); !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "port 0") {
		t.Errorf("a second socket at %s gave %v", addr, err)
	}
}

func TestAUDPSocketThatOthersCouldReachIsRefusedWithoutProof(t *testing.T) {
	if udp, _, err := transports.ListenUDP(t.Context(), parse(t, "kcp://0.0.0.0:0"), transport.Config{}); err == nil {
		udp.Close()
		t.Error("it was bound")
	}
	udp, _, err := transports.ListenUDP(t.Context(), parse(t, "kcp://0.0.0.0:0"), transport.Config{Keyed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	if got := udp.LocalAddr().(*net.UDPAddr).IP; got.To4() == nil {
		t.Errorf("0.0.0.0 is bound as %v, which takes IPv6 too", got)
	}
	if udp, _, err := transports.ListenUDP(t.Context(), parse(t, "kcp://:0"), transport.Config{Advertise: "a/b"}); err == nil {
		udp.Close()
		t.Error("an address to advertise that is none was taken")
	}
}
