package http

import (
	"fmt"
	"net"
	nethttp "net/http"
	"net/url"
	"sync"
	"syscall"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// Handler takes in links through a web server that is there already, at one of its paths:
//
//	links, err := http.NewHandler("https://shop.example.com/sabir")
//	mux.Handle("/sabir", links)
//	node := sabir.NewNode(sabir.Join("https://shop.example.com/sabir", cluster.Config{KeyFile: path}))
//
// Listening at its address then binds no port: what comes to the handler is accepted there. The web server must serve
// HTTP/1.1 at that path, and encrypts where the address is https. It may stand behind a reverse proxy.
//
// A Handler answers 503 while nothing listens at its address.
type Handler struct {
	mu     sync.Mutex
	served *transports.Served // nil while nothing listens
}

var mounted struct {
	sync.Mutex
	handlers map[string]*Handler
}

// NewHandler makes the handler of an addressthat other nodes dial: http://host:port/path or https. The
// request's own path does not matter. The address is taken for as long as the program runs: it is an error to ask for it
// again.
//
// Listening there needs a cluster key, for the handler does not know which callers reach its web server.
func NewHandler(address string) (*Handler, error) {
	u, err := schemes.Parse(address)
	if err != nil {
		return nil, err
	}
	d := driver{encrypted: u.Scheme == "https"}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Port() == "0" {
		return nil, fmt.Errorf("the address %q is not one to dial: want http://host:port/path or https://host/path", u.Redacted())
	}
	if err := d.check(u, transport.Config{}); err != nil {
		return nil, err
	}
	key := d.whole(u).String()
	mounted.Lock()
	defer mounted.Unlock()
	if mounted.handlers[key] != nil {
		return nil, fmt.Errorf("the address %q has a handler already", key)
	}
	if mounted.handlers == nil {
		mounted.handlers = map[string]*Handler{}
	}
	h := &Handler{}
	mounted.handlers[key] = h
	return h, nil
}

// mountedAt is the handler of an address with everything filled in, nil for none.
func mountedAt(full *url.URL) *Handler {
	mounted.Lock()
	defer mounted.Unlock()
	return mounted.handlers[full.String()]
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	served := h.listening()
	if served == nil {
		w.Header().Set("Retry-After", "1")
		refuse(w, nethttp.StatusServiceUnavailable, "Nodes of Sabir meet here, but none listens at the moment.")
		return
	}
	upgrade(w, r, served)
}

func (h *Handler) listening() *transports.Served {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.served
}

func (h *Handler) listen(full *url.URL, config transport.Config) (transport.Listener, error) {
	if !config.Keyed {
		return nil, fmt.Errorf("refusing to listen at %s, which others may reach through its web server, without proof: set a cluster key", full)
	}
	addr := full.String()
	if config.Advertise != "" {
		return nil, fmt.Errorf("the address %q is what others dial, so Advertise has no place with it", addr)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.served != nil {
		return nil, &net.OpError{Op: "listen", Net: "http", Err: fmt.Errorf("%q: something listens through this handler already: %w", addr, syscall.EADDRINUSE)}
	}
	h.served = transports.NewServed(nil, addr)
	return &mountedListener{h.served, h}, nil
}

// mountedListener leaves its handler when it is closed.
type mountedListener struct {
	*transports.Served
	handler *Handler
}

func (l *mountedListener) Close() error {
	l.handler.mu.Lock()
	if l.handler.served == l.Served {
		l.handler.served = nil
	}
	l.handler.mu.Unlock()
	return l.Served.Close()
}
