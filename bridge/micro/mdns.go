package micro

import (
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"

	"github.com/sabir-go/sabir/internal/names"
)

// mdns is go-micro's default registry: multicast DNS (RFC 6762) in a domain of its own.
type mdns struct {
	bridge *bridge
	group  *net.UDPConn // gets what is sent to all
	own    *net.UDPConn // asks, and gets the answers

	mu        sync.Mutex
	announced []*record
	services  []string // that were found
}

var mdnsGroup = &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: 5353}

const (
	// askInterval is how often all services are asked for; services announce themselves in between.
	askInterval = 5 * time.Second
	maxServices = 1024
	maxDatagram = 64 << 10
)

func openMDNS(b *bridge) (*mdns, error) {
	// A multicast address makes Go share the port with all others of the machine.
	group, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(224, 0, 0, 0), Port: mdnsGroup.Port})
	if err != nil {
		return nil, err
	}
	own, err := net.ListenUDP("udp4", nil)
	if err != nil {
		return nil, errors.Join(err, group.Close())
	}
	m := &mdns{bridge: b, group: group, own: own}
	if err := m.join(); err != nil {
		return nil, errors.Join(err, group.Close(), own.Close())
	}
	return m, nil
}

// join joins the group on every network that has one.
func (m *mdns) join() error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return err
	}
	joined, err := false, errors.New("the machine has no network with multicast")
	for i := range interfaces {
		one := ipv4.NewPacketConn(m.group).JoinGroup(&interfaces[i], mdnsGroup)
		if joined = joined || one == nil; one != nil {
			err = errors.Join(err, one)
		}
	}
	if !joined {
		return err
	}
	return nil
}

func (m *mdns) close() {
	m.group.Close()
	m.own.Close()
}

// ask asks for all services, and for the nodes of those that are known.
func (m *mdns) ask() {
	ticker := time.NewTicker(askInterval)
	defer ticker.Stop()
	for {
		m.query(servicesName)
		m.mu.Lock()
		services := slices.Clone(m.services)
		m.mu.Unlock()
		for _, s := range services {
			m.query(s + domain)
		}
		select {
		case <-ticker.C:
		case <-m.bridge.ctx.Done():
			return
		}
	}
}

func (m *mdns) query(name string) {
	packet, err := question(name)
	if err == nil {
		_, err = m.own.WriteToUDP(packet, mdnsGroup)
	}
	if err != nil && m.bridge.ctx.Err() == nil {
		m.bridge.drop("a question could not be sent by mDNS", name, err)
	}
}

// take takes what is sent to all: questions, which it answers, and announcements.
func (m *mdns) take() {
	m.receive(m.group, func(packet []byte, from *net.UDPAddr) {
		if questions, ok := isQuestion(packet); ok {
			m.answer(questions, from)
			return
		}
		m.learn(packet, from)
	})
}

// takeAnswers takes the answers to what was asked.
func (m *mdns) takeAnswers() { m.receive(m.own, m.learn) }

func (m *mdns) receive(c *net.UDPConn, take func(packet []byte, from *net.UDPAddr)) {
	buffer := make([]byte, maxDatagram)
	for {
		n, from, err := c.ReadFromUDP(buffer)
		if err == nil {
			take(buffer[:n], from)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond): // an error that stays must not take a processor
		case <-m.bridge.ctx.Done():
			return
		}
	}
}

// answer answers questions for services of this node.
func (m *mdns) answer(questions []dnsmessage.Question, to *net.UDPAddr) {
	m.mu.Lock()
	announced := m.announced
	m.mu.Unlock()
	for _, q := range questions[:min(len(questions), 16)] {
		name := q.Name.String()
		for _, r := range announced {
			var packet []byte
			var err error
			switch strings.ToLower(name) {
			case servicesName:
				packet, err = r.listing(questions)
			case strings.ToLower(r.service + domain), strings.ToLower(r.id + "." + r.service + domain):
				packet, err = r.announcement(questions, recordTTL)
			default:
				continue
			}
			if err == nil {
				_, err = m.own.WriteToUDP(packet, to)
			}
			if err != nil {
				m.bridge.drop("a service cannot be announced by mDNS", r.service, err)
			}
		}
	}
}

// announce tells all what is exposed now, and what no more.
func (m *mdns) announce(records []*record) {
	m.mu.Lock()
	before := m.announced
	m.announced = records
	m.mu.Unlock()
	for _, r := range before {
		if !slices.ContainsFunc(records, func(n *record) bool { return n.id == r.id }) {
			m.send(r, 0)
		}
	}
	for _, r := range records {
		if !slices.ContainsFunc(before, func(o *record) bool { return o.id == r.id && o.same(r) }) {
			m.send(r, recordTTL)
		}
	}
}

func (m *mdns) send(r *record, ttl uint32) {
	packet, err := r.announcement(nil, ttl)
	if err == nil {
		_, err = m.own.WriteToUDP(packet, mdnsGroup)
	}
	if err != nil {
		m.bridge.drop("a service cannot be announced by mDNS", r.service, err)
	}
}

// learn takes an answer or an announcement.
func (m *mdns) learn(packet []byte, from *net.UDPAddr) {
	a, err := readAnswers(packet)
	if err != nil && err != errNoAnswer {
		m.bridge.drop("a packet of mDNS was refused", from.String(), err)
	}
	for _, s := range a.services {
		m.found(s)
	}
	for _, r := range a.left {
		m.bridge.unlearn(r)
	}
	for _, r := range a.nodes {
		m.found(r.service)
		m.bridge.learn(r)
	}
}

// found notes a service, and asks for its nodes where it is new.
func (m *mdns) found(service string) {
	if names.Fault(service) != "" || strings.HasPrefix(service, "$") {
		return
	}
	m.mu.Lock()
	known := slices.Contains(m.services, service) || len(m.services) >= maxServices
	if !known {
		m.services = append(m.services, service)
	}
	m.mu.Unlock()
	if !known {
		m.query(service + domain)
	}
}
