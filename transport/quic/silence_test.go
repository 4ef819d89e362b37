package quic

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/transport"
)

// relay passes packets between one client and a listener until it is cut.
func relay(t *testing.T, to string) (addr string, cut func()) {
	t.Helper()
	inside, err := net.Dial("udp", to)
	if err != nil {
		t.Fatal(err)
	}
	outside, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var gone atomic.Bool
	var client atomic.Pointer[net.UDPAddr]
	done := make(chan struct{}, 2)
	go func() {
		defer func() { done <- struct{}{} }()
		for packet := make([]byte, 2048); ; {
			n, from, err := outside.ReadFromUDP(packet)
			if err != nil {
				return
			}
			client.Store(from)
			if !gone.Load() {
				inside.Write(packet[:n])
			}
		}
	}()
	go func() {
		defer func() { done <- struct{}{} }()
		for packet := make([]byte, 2048); ; {
			n, err := inside.Read(packet)
			if err != nil {
				return
			}
			if !gone.Load() {
				outside.WriteToUDP(packet[:n], client.Load())
			}
		}
	}()
	t.Cleanup(func() {
		outside.Close()
		inside.Close()
		<-done
		<-done
	})
	return outside.LocalAddr().String(), func() { gone.Store(true) }
}

func TestAPeerThatSendsNothingMoreIsGivenUpByBothSides(t *testing.T) {
	config := transport.Config{KeepAlive: 500 * time.Millisecond}
	l, err := transport.Listen(t.Context(), "quic://127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	at, cut := relay(t, l.Addr()[len("quic://"):])
	client, err := transport.Dial(t.Context(), "quic://"+at, config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server := <-accepted
	defer server.Close()

	// It is given up for silence, not for being idle: the pings of the library keep it open.
	client.SetReadDeadline(time.Now().Add(1500 * time.Millisecond))
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("an idle connection ended with %v", err)
	}
	client.SetReadDeadline(time.Time{})
	cut()
	for _, side := range []net.Conn{client, server} {
		if _, err := side.Read(make([]byte, 1)); !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("the read ended with %v, want %v", err, syscall.ETIMEDOUT)
		}
	}
}
