package transport

import (
	"fmt"
	"net/netip"
	"syscall"
)

const (
	// defaultPacketSize is the least as well: QUIC needs no less, and the windows of kcp and utp count on it.
	defaultPacketSize = 1200

	// headerDifference is the number of bytes by which TCP's header is longer than UDP's.
	headerDifference = 20 - 8

	// maxSegmentSize is the largest limit that Linux takes.
	maxSegmentSize = 1<<15 - 1
)

// PacketLimit is PacketSize with its default filled in. It is for drivers.
func (c Config) PacketLimit() int {
	if c.PacketSize == 0 {
		return defaultPacketSize
	}
	return c.PacketSize
}

func (c Config) checkPacketSize() error {
	if c.PacketSize != 0 && c.PacketSize < defaultPacketSize {
		return fmt.Errorf("packets of %d bytes are too small: the least is %d", c.PacketSize, defaultPacketSize)
	}
	return nil
}

// LimitSegments holds a TCP connection that is about to be dialled to packets of PacketLimit, in both directions, since the
// limit is sent to the peer too. Without that a connection stalls for good on a path that loses larger packets without a
// word, as Linux looks for such a path only where net.ipv4.tcp_mtu_probing is set. Loopback carries all sizes and is left
// alone. It is the Control of a [net.Dialer], for drivers. It does nothing on systems other than Linux.
func (c Config) LimitSegments(_, address string, socket syscall.RawConn) error {
	if err := c.checkPacketSize(); err != nil {
		return err
	}
	if to, err := netip.ParseAddrPort(address); err == nil && to.Addr().Unmap().IsLoopback() {
		return nil
	}
	return limitSegments(socket, min(c.PacketLimit()-headerDifference, maxSegmentSize))
}
