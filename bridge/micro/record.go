package micro

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/gomicro"
)

// record is a node of a service, as a registry has it.
type record struct {
	id            string
	service       string
	version       string
	address       string
	endpoints     []string
	streams       []string                 // of the endpoints
	actions       map[string]*sabir.Action // of this node, by their endpoints
	metadata      map[string]string
	subscriptions []subscription // of an address of go-micro's HTTP broker
	static        bool           // from Static: it is not forgotten
	listed        bool           // by a registry that says when it is gone: it is not forgotten before
}

// subscription is a handler's at go-micro's HTTP broker. Without a queue it gets every event of the topic.
type subscription struct{ id, topic, queue string }

// grpc reports whether the node is a server of go-micro's gRPC.
func (r *record) grpc() bool { return r.metadata["protocol"] == "grpc" }

// spoken reports whether the node is a server of gRPC, or one over HTTP, which it need not say.
func (r *record) spoken() bool {
	transport := r.metadata["transport"]
	return r.grpc() || transport == "http" || transport == ""
}

func (r *record) same(other *record) bool {
	return r.address == other.address && r.service == other.service && r.version == other.version && r.listed == other.listed && slices.Equal(r.endpoints, other.endpoints) && slices.Equal(r.streams, other.streams) &&
		maps.Equal(r.metadata, other.metadata) && slices.Equal(r.subscriptions, other.subscriptions)
}

// entry is the record as registries other than mDNS have it.
func (r *record) entry() gomicro.Service {
	s := gomicro.Service{Name: r.service, Version: r.version, Endpoints: []gomicro.Endpoint{}, Nodes: []gomicro.Node{{ID: r.id, Address: r.address, Metadata: r.metadata}}}
	for _, e := range r.endpoints {
		metadata := map[string]string{}
		if slices.Contains(r.streams, e) {
			metadata["stream"] = "true"
		}
		one := gomicro.Endpoint{Name: e, Metadata: metadata}
		if a := r.actions[e]; a != nil {
			one.Request, one.Response = described(a.In), described(a.Out)
		}
		s.Endpoints = append(s.Endpoints, one)
	}
	return s
}

// maxAddress bounds the address of a node: a name of DNS with a port.
const maxAddress = 262

// recordsOf are the nodes of a service of which a registry says what a client needs. Nodes of Sabir do not take each other for nodes of
// go-micro.
func recordsOf(s *gomicro.Service) (list []*record) {
	for _, n := range s.Nodes {
		_, port, err := net.SplitHostPort(n.Address)
		if err != nil || port == "" || port == "0" || len(n.Address) > maxAddress || n.ID == "" || n.Metadata["server"] == serverName {
			continue
		}
		r := &record{id: n.ID, service: s.Name, version: s.Version, address: n.Address, metadata: n.Metadata}
		r.endpoints, r.streams = callable(s.Endpoints)
		list = append(list, r)
	}
	return list
}

// callable are the names of the endpoints that can be called, no handlers of events, and those of them that are streams.
func callable(endpoints []gomicro.Endpoint) (list, streams []string) {
	for _, e := range endpoints {
		if e.Metadata["subscriber"] == "true" || slices.Contains(list, e.Name) {
			continue
		}
		if list = append(list, e.Name); e.Metadata["stream"] == "true" {
			streams = append(streams, e.Name)
		}
	}
	return list, streams
}

// text describes a node in its TXT record: it is written as JSON, compressed by zlib, in hexadecimal, cut into strings of 255 bytes.
type text struct {
	Metadata  map[string]string
	Service   string
	Version   string
	Endpoints []gomicro.Endpoint
}

const (
	textPiece = 255
	// maxText bounds a TXT record with descriptions of types: a packet of mDNS should have at most 9,000 bytes (RFC 6762, section 17).
	maxText = 8000
)

func encodeText(r *record) ([]string, error) {
	t := &text{Metadata: r.metadata, Service: r.service, Version: r.version, Endpoints: r.entry().Endpoints}
	rest, err := deflated(t)
	if len(rest) > maxText {
		for i := range t.Endpoints {
			t.Endpoints[i].Request, t.Endpoints[i].Response = nil, nil
		}
		rest, err = deflated(t)
	}
	if err != nil {
		return nil, err
	}
	var pieces []string
	for rest != "" {
		n := min(len(rest), textPiece)
		pieces, rest = append(pieces, rest[:n]), rest[n:]
	}
	return pieces, nil
}

func deflated(t *text) (string, error) {
	plain, err := json.Codec.Append(nil, t)
	if err != nil {
		return "", err
	}
	return gomicro.Deflate(plain), nil
}

func decodeText(pieces []string) (*text, error) {
	plain, err := gomicro.Inflate(strings.Join(pieces, ""))
	if err != nil {
		return nil, err
	}
	t := new(text)
	if err := json.Codec.Decode(plain, t); err != nil {
		return nil, err
	}
	return t, nil
}

// subscriptionOf reads the record of a subscription at an HTTP broker.
func subscriptionOf(r *record) (s subscription, err error) {
	s = subscription{id: r.id, topic: r.metadata["topic"], queue: r.version}
	switch {
	case r.metadata["broker"] != "http" || s.topic == "":
		return s, fmt.Errorf("the record is no subscription at an HTTP broker")
	case r.metadata["secure"] == "true":
		return s, fmt.Errorf("the subscription to %.100q wants TLS, which the bridge does not speak", s.topic)
	}
	if s.queue == everyone {
		s.queue = ""
	}
	return s, nil
}

func compareSubscriptions(a, b subscription) int {
	return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.queue, b.queue), cmp.Compare(a.id, b.id))
}
