// Package datagram is the UDP socket under the transports whose libraries end a connection at the first error of a system call.
//
// A packet that the system refuses to send is lost, as any may be on its way, and is sent again: a route that changes, a cable that
// is out for a second, a full queue or a packet filter that is loaded anew must not end links. TCP takes these errors so (RFC 1122,
// section 4.2.3.9). Where it lasts, the silence of the peer ends the link. Only [syscall.ECONNREFUSED], by which the peer's
// machine reports that its process is gone, comes through at once, and so do faults of the caller.
package datagram

import (
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"syscall"

	"golang.org/x/net/ipv4"
)

// Socket is a UDP socket whose reads and writes keep passing errors from their caller. Like a [net.UDPConn] it may be used by
// several goroutines at once, each message of ReadBatch by one.
type Socket struct {
	*net.UDPConn
	connected bool
	batches   *ipv4.PacketConn
	refusal   atomic.Pointer[error]
}

// Listening is the socket of a listener. The Socket takes it over.
func Listening(udp *net.UDPConn) *Socket {
	return &Socket{UDPConn: udp, batches: ipv4.NewPacketConn(udp)}
}

// Connected is a socket that was made by dialling. It sends to that address only, whichever one a write names.
func Connected(udp *net.UDPConn) *Socket {
	s := Listening(udp)
	s.connected = true
	return s
}

// Refusal is the error with which the system refused the latest packet that it refused, or nil.
func (s *Socket) Refusal() error {
	if err := s.refusal.Load(); err != nil {
		return *err
	}
	return nil
}

// WriteTo reports a packet that the system refuses as sent.
func (s *Socket) WriteTo(b []byte, to net.Addr) (n int, err error) {
	if s.connected {
		n, err = s.UDPConn.Write(b)
	} else {
		n, err = s.UDPConn.WriteTo(b, to)
	}
	if s.passes(err) {
		return len(b), nil
	}
	return n, err
}

// WriteMsgUDP reports a packet, or a batch of segments, that the system refuses as sent.
func (s *Socket) WriteMsgUDP(b, oob []byte, to *net.UDPAddr) (n, oobn int, err error) {
	if s.connected {
		to = nil
	}
	n, oobn, err = s.UDPConn.WriteMsgUDP(b, oob, to)
	if s.passes(err) {
		return len(b), len(oob), nil
	}
	return n, oobn, err
}

// ReadFrom waits for the next packet.
func (s *Socket) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := s.UDPConn.ReadFrom(b)
		if !s.passes(err) {
			return n, from, err
		}
	}
}

// ReadBatch waits for packets and reads as many as there are and messages has space for, with one system call where the system
// can do that (Linux).
func (s *Socket) ReadBatch(messages []ipv4.Message, flags int) (int, error) {
	for {
		n, err := s.batches.ReadBatch(messages, flags)
		if !s.passes(err) {
			return n, err
		}
	}
}

// passing are the errors after which the next packet may get through. A connected socket also returns those that routers and packet
// filters on the way reported (ICMP), at its next read or write.
var passing = []syscall.Errno{
	syscall.EPERM, syscall.EACCES, // a packet filter of this machine
	syscall.ENOBUFS, syscall.ENOMEM,
	syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENOPROTOOPT,
	syscall.EADDRNOTAVAIL, // the interface has lost its address
}

func (s *Socket) passes(err error) bool {
	if err == nil {
		return false
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok || !slices.Contains(passing, errno) {
		return false
	}
	refusal := err // a copy, so that err is not allocated with each call
	s.refusal.Store(&refusal)
	return true
}
