package rpc

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/deadconn"
	"github.com/sabir-go/sabir/introspect"
)

// The protocols in which foreign services are called, with the names of their frameworks in listings.
var frameworks = map[string]string{grpc: "gRPC", grpcWeb: "gRPC-Web", overConnect: "Connect"}

const (
	grpc        = "grpc"
	grpcWeb     = "grpc-web"
	overConnect = "connect"
)

// Foreign describes a server of gRPC, Connect or gRPC-Web, in whatever language, whose methods a node calls by name: see [Dial]. Only URL
// is needed.
type Foreign struct {
	// URL is the server's address: "http://billing:50051", or "https://billing.example.com". A path stands before those of all methods. Over http, HTTP/2
	// is spoken without TLS (h2c). "dns:///billing:50051" calls all addresses of the name, each as a server of its own; see Dial.
	URL string
	// Protocol is spoken with the server: "grpc", "grpc-web" or "connect". Default: "grpc".
	Protocol string
	// HTTP1 has http URLs called over HTTP/1.1, for servers of Connect and gRPC-Web that know no HTTP/2 without TLS. Streams need HTTP/2.
	HTTP1 bool
	// TLS is for https, and for a "dns:///" with it. Default: the system's certificates. With client certificates in it, the server can tell who calls.
	TLS *tls.Config
	// Header is sent with each call and when asking for descriptors, for such as credentials. It is never logged.
	Header http.Header
	// Services renames services: "acme.billing.v1.Billing" to "billing". It takes those only, of all that the server has. Default: all of
	// them, each by its last word with a small first letter, but for gRPC's own (grpc.*).
	Services map[string]string
	// Files describe the server's services, for one without reflection. protoc --descriptor_set_out --include_imports writes them.
	Files *descriptorpb.FileDescriptorSet
	// MaxAnswer bounds the bytes of one message from the server. Default: 4 MiB.
	MaxAnswer int
}

// Dial is an option of sabir.NewNode that makes the methods of a foreign server callable as actions, by [sabir.Call] and its relatives, with
// plain structs and without generated code. For example:
//
//	node := sabir.NewNode(rpc.Dial(rpc.Foreign{URL: "http://billing:50051"}))
//	invoice, err := sabir.Call[Invoice](ctx, node, "billing.getInvoice", InvoiceRequest{ID: "7"})
//
// The method GetInvoice of the service acme.billing.v1.Billing is the action "billing.getInvoice". What the server has is asked by its
// reflection (grpc.reflection.v1, v1alpha), again every 30 seconds and when calls fail; the node starts without an answer, and the actions are there when
// the server is. Give several servers that have the same services each a Dial: calls are shared among them, go to another where one cannot be
// reached, and avoid one that answers worse, as for nodes of the cluster. "dns:///billing:50051" does so for the addresses of a name, of which it takes 64 at
// most and asks again when it asks the servers.
//
// Inputs and answers are encoded as package codec/protobuf describes, so fields are known by number. A struct whose fields have other
// numbers or names than the method's message is refused with an error that says which tag is missing, before anything is sent.
// Generated messages are taken as they are, and so is JSON, such as that of [sabir.CallJSON].
//
// The deadline and the cancellation of a call reach the server, its metadata as headers, except those of HTTP itself. Headers and trailers of the
// answer are given to whoever takes them by gateway.WithAnswer. Errors keep code and message;
// google.rpc.ErrorInfo gives the name, and BadRequest, Struct or the other details are the error's data. A server that could not be
// reached is a retryable [sabir.ErrServiceUnavailable], a connection that was lost under a call a [sabir.ErrLinkLost]. The actions are for the
// nodes that have the Dial, not for other nodes of the cluster, nor for callers over HTTP.
func Dial(f Foreign) sabir.NodeOption {
	if target, ok := strings.CutPrefix(f.URL, "dns:"); ok {
		return sabir.WithExtension(newDNSTarget(f, target))
	}
	return sabir.WithExtension(newPeer(f))
}

func newPeer(f Foreign) *peer {
	f.Protocol = cmp.Or(f.Protocol, grpc)
	p := &peer{config: f}
	p.at, p.badURL = url.Parse(f.URL)
	if p.badURL == nil {
		p.id = p.at.Host + strings.TrimSuffix(p.at.Path, "/")
	}
	return p
}

const (
	// lookInterval is the time between two questions for what a server has.
	lookInterval = 30 * time.Second
	// lookAgain is the least time between two questions, and that after one that was not answered.
	lookAgain = time.Second
	// lookTimeout bounds such a question.
	lookTimeout = 5 * time.Second
	// dialTimeout bounds the making of a connection.
	dialTimeout = 5 * time.Second
)

// peer is a foreign server: the sabir.ForeignNode and the extension that asks it what it has.
type peer struct {
	config Foreign
	at     *url.URL
	badURL error
	id     string // the URL without its scheme and credentials
	// Of one of several addresses of a name:
	address string // that is dialed in place of the URL's
	lost    func() // is called where it cannot be reached
	base    string // of the URLs of methods
	node    *sabir.Node
	client  *http.Client
	since   time.Time

	methods atomic.Pointer[methods]
	silent  atomic.Bool
	looks   chan struct{} // asks for a look
	cancel  context.CancelFunc
	ended   chan struct{}
}

// Name implements sabir.Extension and sabir.ForeignNode.
func (p *peer) Name() string { return p.id }

// check reports what is wrong with the configuration, without credentials that stand in the URL.
func (p *peer) check() error {
	at := p.at
	switch {
	case p.badURL != nil:
		return errors.New("rpc.Dial: the URL cannot be read: want one like \"http://billing:50051\"")
	case at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil || at.RawQuery != "":
		return fmt.Errorf("rpc.Dial: the URL of %q has to be like \"http://billing:50051\" or \"https://billing.example.com\", without credentials and parameters", at.Host)
	case frameworks[p.config.Protocol] == "":
		return fmt.Errorf(`rpc.Dial: Protocol is %q: want "grpc", "grpc-web" or "connect"`, p.config.Protocol)
	case p.config.HTTP1 && (p.config.Protocol == grpc || at.Scheme == "https"):
		return errors.New("rpc.Dial: HTTP1 is for Connect and gRPC-Web over http: gRPC needs HTTP/2, and over https the server chooses")
	}
	return nil
}

// Start implements sabir.Extension.
func (p *peer) Start(ctx context.Context, n *sabir.Node) error {
	if err := p.check(); err != nil {
		return err
	}
	if slices.ContainsFunc(n.Nodes(), func(other introspect.Node) bool { return other.ID == p.id }) {
		return fmt.Errorf("rpc.Dial: %s is dialed twice: give one rpc.Foreign all its Services", p.id)
	}
	p.node, p.since, p.base = n, time.Now(), strings.TrimSuffix(p.config.URL, "/")
	p.client = &http.Client{Transport: answers{p.transport(p.at.Scheme == "https"), p.config.Protocol},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the credentials are for this server
	p.looks, p.ended, p.cancel = make(chan struct{}, 1), make(chan struct{}), func() {}
	p.methods.Store(&methods{})
	if p.config.Files != nil {
		found, err := p.config.methods(p.config.Files)
		if err != nil {
			return fmt.Errorf("rpc.Dial: the Files of %s: %w", p.id, err)
		}
		if err := p.offer(found); err != nil {
			return fmt.Errorf("rpc.Dial: %s: %w", p.id, err)
		}
		close(p.ended)
		return nil
	}
	running, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go p.follow(running, p.look(ctx))
	return nil
}

// Stop implements sabir.Extension.
func (p *peer) Stop(context.Context) error {
	p.cancel()
	<-p.ended
	p.node.DropForeign(p)
	p.client.CloseIdleConnections()
	return nil
}

func (p *peer) transport(isTLS bool) *http.Transport {
	t := &http.Transport{
		Protocols:          new(http.Protocols),
		TLSClientConfig:    p.config.TLS,
		DialContext:        p.dial,
		DisableCompression: true, // the protocols have their own
		IdleConnTimeout:    90 * time.Second,
	}
	t.Protocols.SetHTTP2(isTLS)
	t.Protocols.SetUnencryptedHTTP2(!isTLS && !p.config.HTTP1)
	t.Protocols.SetHTTP1(p.config.HTTP1 || isTLS && p.config.Protocol != grpc)
	return t
}

func (p *peer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if p.address != "" {
		address = p.address
	}
	return (&net.Dialer{Timeout: dialTimeout, Control: deadconn.Control}).DialContext(ctx, network, address)
}

// options are those of connect's clients.
func (p *peer) options() []connect.ClientOption {
	limit := p.config.MaxAnswer
	if limit <= 0 {
		limit = maxMessage
	}
	options := []connect.ClientOption{connect.WithReadMaxBytes(limit)}
	switch p.config.Protocol {
	case grpc:
		options = append(options, connect.WithGRPC())
	case grpcWeb:
		options = append(options, connect.WithGRPCWeb())
	}
	return options
}

// follow looks what the server has, until ctx ends. The first look has ended with err.
func (p *peer) follow(ctx context.Context, err error) {
	defer close(p.ended)
	followLooks(ctx, p.looks, err, p.look, func(err error) {
		p.node.Log().Warn("a foreign server cannot be asked for what it has: asking again", "node", p.node.ID(), "server", p.id, "error", err)
	})
}

// look asks the server what it has, and offers it where that has changed.
func (p *peer) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	found, err := p.reflectedMethods(ctx)
	if err != nil {
		if p.silent.CompareAndSwap(false, true) {
			_ = p.node.SetForeign(p, p.offered(p.methods.Load())) // which was taken before
		}
		return err
	}
	return p.offer(found)
}

// offer gives the node what the server has.
func (p *peer) offer(m *methods) error {
	m.name(p.config.Services)
	before := p.methods.Load()
	if wasSilent := p.silent.Swap(false); !wasSilent && m.same(before) {
		return nil
	}
	for _, problem := range m.problems {
		p.node.Log().Warn("not all that a foreign server has can be called", "node", p.node.ID(), "server", p.id, "error", problem)
	}
	m.clients(p)
	p.methods.Store(m)
	if err := p.node.SetForeign(p, p.offered(m)); err != nil {
		p.methods.Store(before)
		return err
	}
	return nil
}

func (p *peer) offered(m *methods) (o sabir.ForeignOffer) {
	o.Node = introspect.Node{Framework: frameworks[p.config.Protocol], Host: p.id, Since: p.since, Silent: p.silent.Load()}
	o.Services, o.Actions = m.services, m.actions
	return o
}
