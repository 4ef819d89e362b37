package micro

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// The names under which go-micro has services in DNS: the nodes of a service are at <service>.micro., and the services at _services.micro.
const (
	domain       = ".micro."
	servicesName = "_services" + domain
	recordTTL    = 120 // seconds, as go-micro's
)

// question is a message that asks for the nodes of a service, or for all services.
func question(name string) ([]byte, error) {
	n, err := dnsmessage.NewName(name)
	if err != nil {
		return nil, err
	}
	m := dnsmessage.Message{Questions: []dnsmessage.Question{{Name: n, Type: dnsmessage.TypePTR, Class: dnsmessage.ClassINET}}}
	return m.Pack()
}

// isQuestion reports whether a message asks something, and what. Clients of go-micro drop an answer that does not repeat their question.
func isQuestion(packet []byte) (questions []dnsmessage.Question, ok bool) {
	var p dnsmessage.Parser
	h, err := p.Start(packet)
	if err != nil || h.Response || h.OpCode != 0 {
		return nil, false
	}
	questions, err = p.AllQuestions()
	return questions, err == nil && len(questions) > 0
}

// announcement is a message with all that is known of a node, as an answer to questions or to none. A TTL of 0 says that the node leaves.
func (r *record) announcement(questions []dnsmessage.Question, ttl uint32) ([]byte, error) {
	instance, err := dnsmessage.NewName(r.id + "." + r.service + domain)
	if err != nil {
		return nil, err
	}
	at, err := dnsmessage.NewName(r.service + domain)
	if err != nil {
		return nil, err
	}
	address, err := netip.ParseAddrPort(r.address)
	if err != nil {
		return nil, err
	}
	pieces, err := encodeText(r)
	if err != nil {
		return nil, err
	}
	header := func(name dnsmessage.Name) dnsmessage.ResourceHeader {
		return dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: ttl}
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true, Authoritative: true}, Questions: questions, Answers: []dnsmessage.Resource{
		{Header: header(at), Body: &dnsmessage.PTRResource{PTR: instance}},
		{Header: header(instance), Body: &dnsmessage.SRVResource{Priority: 10, Weight: 1, Port: address.Port(), Target: instance}},
	}}
	if ip := address.Addr().Unmap(); ip.Is4() {
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: header(instance), Body: &dnsmessage.AResource{A: ip.As4()}})
	} else {
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: header(instance), Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
	}
	// Last: go-micro takes the TTL of the last record as that of the node.
	m.Answers = append(m.Answers, dnsmessage.Resource{Header: header(instance), Body: &dnsmessage.TXTResource{TXT: pieces}})
	return m.Pack()
}

// listing answers the question for all services with one of them.
func (r *record) listing(questions []dnsmessage.Question) ([]byte, error) {
	all, err := dnsmessage.NewName(servicesName)
	if err != nil {
		return nil, err
	}
	name, err := dnsmessage.NewName(r.service + "." + servicesName)
	if err != nil {
		return nil, err
	}
	header := func(name dnsmessage.Name) dnsmessage.ResourceHeader {
		return dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: recordTTL}
	}
	// The address and the port are those that go-micro itself has here: its clients take no entry without.
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true, Authoritative: true}, Questions: questions, Answers: []dnsmessage.Resource{
		{Header: header(all), Body: &dnsmessage.PTRResource{PTR: name}},
		{Header: header(name), Body: &dnsmessage.SRVResource{Priority: 10, Weight: 1, Port: 9999, Target: name}},
		{Header: header(name), Body: &dnsmessage.AResource{}},
		{Header: header(name), Body: &dnsmessage.TXTResource{TXT: []string{""}}},
	}}
	return m.Pack()
}

// answers holds the content of a message: services that there are, and nodes that came or left.
type answers struct {
	services []string // that there are
	nodes    []*record
	left     []*record // nodes that have left
}

var errNoAnswer = errors.New("no answer")

// readAnswers reads a message that is an answer or an announcement.
func readAnswers(packet []byte) (a answers, err error) {
	var m dnsmessage.Message
	if err := m.Unpack(packet); err != nil {
		return a, err
	}
	if !m.Response {
		return a, errNoAnswer
	}
	addresses, texts := make(map[string]net.IP), make(map[string][]string)
	all := append(m.Answers, m.Additionals...)
	for i := range all {
		name := all[i].Header.Name.String()
		switch body := all[i].Body.(type) {
		case *dnsmessage.PTRResource:
			if name == servicesName && all[i].Header.TTL > 0 {
				if service, ok := strings.CutSuffix(body.PTR.String(), "."+servicesName); ok {
					a.services = append(a.services, service)
				}
			}
		case *dnsmessage.AResource:
			addresses[name] = body.A[:]
		case *dnsmessage.AAAAResource:
			if addresses[name] == nil {
				addresses[name] = body.AAAA[:]
			}
		case *dnsmessage.TXTResource:
			texts[name] = body.TXT
		}
	}
	for i := range all {
		srv, ok := all[i].Body.(*dnsmessage.SRVResource)
		name := all[i].Header.Name.String()
		pieces, described := texts[name]
		if !ok || !described || strings.HasSuffix(name, "."+servicesName) || !strings.HasSuffix(name, domain) {
			continue
		}
		t, err := decodeText(pieces)
		if err != nil {
			return a, err
		}
		id, ok := strings.CutSuffix(name, "."+t.Service+domain)
		ip := addresses[srv.Target.String()]
		r := &record{id: id, service: t.Service, version: t.Version, metadata: t.Metadata}
		r.endpoints, r.streams = callable(t.Endpoints)
		switch {
		case !ok || t.Service == "" || t.Metadata["server"] == serverName:
		case all[i].Header.TTL == 0:
			a.left = append(a.left, r)
		case ip != nil && srv.Port != 0:
			r.address = net.JoinHostPort(ip.String(), strconv.Itoa(int(srv.Port)))
			a.nodes = append(a.nodes, r)
		}
	}
	return a, nil
}
