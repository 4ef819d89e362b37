package moleculer

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/ipv4"
)

// announcer looks for nodes by UDP: each sends all others its namespace, its id and the port at which it listens.
type announcer struct {
	mesh     *tcp
	group    *net.UDPAddr
	onlyHere bool           // looks for nodes of this machine
	conn     *net.UDPConn   // receives
	senders  []*net.UDPConn // one for each address of this machine, which is the one that others then dial
}

const (
	// announceInterval is the time between announcements, as Moleculer's; the first come one after the other.
	announceInterval = 30 * time.Second
	announceFirst    = time.Second
)

func newAnnouncer(m *tcp, at netip.AddrPort, onlyHere bool) (*announcer, error) {
	a := &announcer{mesh: m, group: net.UDPAddrFromAddrPort(at), onlyHere: onlyHere}
	var err error
	// A multicast address makes Go share the port with all others of the machine.
	if a.conn, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(224, 0, 0, 0), Port: a.group.Port}); err != nil {
		return nil, err
	}
	all, err := net.Interfaces()
	for i := range all {
		if all[i].Flags&net.FlagUp != 0 && (!onlyHere || all[i].Flags&net.FlagLoopback != 0) {
			err = errors.Join(err, a.join(&all[i]))
		}
	}
	if len(a.senders) == 0 {
		a.close()
		return nil, errors.Join(errors.New("no network has multicast"), err)
	}
	return a, nil
}

// join joins the group on a network, and sends to it from each of this machine's addresses there.
func (a *announcer) join(network *net.Interface) error {
	addresses, err := network.Addrs()
	if err != nil {
		return err
	}
	if err := ipv4.NewPacketConn(a.conn).JoinGroup(network, a.group); err != nil {
		return err
	}
	for _, one := range addresses {
		ip, ok := one.(*net.IPNet)
		if !ok || ip.IP.To4() == nil {
			continue
		}
		sender, err := net.ListenUDP("udp4", &net.UDPAddr{IP: ip.IP})
		if err != nil {
			return err
		}
		a.senders = append(a.senders, sender)
		if err := ipv4.NewPacketConn(sender).SetMulticastInterface(network); err != nil {
			return err
		}
	}
	return nil
}

func (a *announcer) close() {
	a.conn.Close()
	for _, s := range a.senders {
		s.Close()
	}
}

// send announces this node, at first and again and again.
func (a *announcer) send() {
	text := []byte(a.mesh.bridge.Namespace + "|" + a.mesh.bridge.id + "|" + strconv.Itoa(a.mesh.port))
	for n := 0; ; n++ {
		for _, s := range a.senders {
			if _, err := s.WriteToUDP(text, a.group); err != nil && a.mesh.ctx.Err() == nil {
				a.mesh.bridge.note("the node could not be announced by UDP", s.LocalAddr().String(), err)
			}
		}
		wait := announceInterval
		if n < 2 {
			wait = announceFirst
		}
		select {
		case <-time.After(wait):
		case <-a.mesh.ctx.Done():
			return
		}
	}
}

// receive takes the announcements of other nodes.
func (a *announcer) receive() {
	buffer := make([]byte, 1024)
	for {
		n, from, err := a.conn.ReadFromUDP(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			select {
			case <-time.After(acceptPause): // an error that stays must not take a processor
			case <-a.mesh.ctx.Done():
				return
			}
			continue
		}
		if id, port, ok := readAnnouncement(string(buffer[:n]), a.mesh.bridge.Namespace); ok && a.takes(from.IP) {
			a.mesh.learn(id, false, hostPort(from.IP.String(), port))
		}
	}
}

// takes reports whether announcements from an address count. The socket gets what any machine sends to its port, and what is sent to groups
// that other programs of this machine have joined.
func (a *announcer) takes(from net.IP) bool {
	if !a.onlyHere || from.IsLoopback() {
		return true
	}
	addresses, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(addresses, func(one net.Addr) bool {
		n, ok := one.(*net.IPNet)
		return ok && n.IP.Equal(from)
	})
}

func readAnnouncement(text, namespace string) (id string, port int, ok bool) {
	parts := strings.Split(text, "|")
	if len(parts) != 3 || parts[0] != namespace {
		return "", 0, false
	}
	port, err := strconv.Atoi(parts[2])
	return parts[1], port, err == nil && port > 0 && port < 1<<16 && !badTopic(parts[1])
}
