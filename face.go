package sabir

import (
	"context"
	"crypto/tls"
)

// Face is a way into a node from outside, such as HTTP: started after the services, stopped before them.
type Face interface {
	// Name is for errors and logs: "http :3000".
	Name() string
	// Start returns when calls can come in.
	Start(ctx context.Context) error
	// Stop takes no more calls and waits for those in flight, or for the context.
	Stop(ctx context.Context) error
}

// Attach gives the node a face; make is called when the node starts.
func Attach(make func(*Node) (Face, error)) NodeOption {
	return nodeOption(func(n *Node) { n.attached = append(n.attached, make) })
}

// HTTPConfig is what HTTP and its options set, for the package that serves it.
type HTTPConfig struct {
	Addr    string
	Key     string
	TLS     *tls.Config
	Options []any // of the package that serves it, in the order in which they were given
}

// HTTP exposes the public actions at POST /service/action, JSON in and out, with health at /health and readiness at
// /ready. Package web serves it, so the program must import it:
//
//	import _ "github.com/sabir-go/sabir/web"
//
// An address without a host, ":3000", means this machine only (127.0.0.1). To be reached from others, name the host,
// "0.0.0.0:3000", and say who may call with HTTPKey or a TLS configuration that demands client certificates; without
// either the node refuses to start. Port 0 takes a free one; [Node.HTTPAddr] tells which.
func HTTP(addr string, options ...HTTPOption) NodeOption {
	config := HTTPConfig{Addr: addr}
	for _, o := range options {
		o(&config)
	}
	return Attach(func(n *Node) (Face, error) {
		if httpFace == nil {
			return nil, &Error{Code: Unimplemented, Name: nameNodeState, Node: n.id,
				Message: `sabir.HTTP needs the package that serves it: add import _ "github.com/sabir-go/sabir/web"`}
		}
		return httpFace(n, config)
	})
}

// HTTPOption is an option of HTTP.
type HTTPOption func(*HTTPConfig)

// HTTPKey asks every caller for "Authorization: Bearer <key>". Use at least 16 random characters.
func HTTPKey(key string) HTTPOption { return func(c *HTTPConfig) { c.Key = key } }

// HTTPTLS serves HTTPS.
func HTTPTLS(config *tls.Config) HTTPOption { return func(c *HTTPConfig) { c.TLS = config } }

// httpFace is what RegisterHTTP was given.
var httpFace func(*Node, HTTPConfig) (Face, error)

// RegisterHTTP tells what serves HTTP. Package web calls it when it is imported.
func RegisterHTTP(make func(*Node, HTTPConfig) (Face, error)) { httpFace = make }

// HTTPAddr is the host and port where HTTP is served, once the node runs; "" if it is not.
func (n *Node) HTTPAddr() string {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	for _, face := range n.faces {
		if f, ok := face.(interface{ HTTPAddr() string }); ok {
			return f.HTTPAddr()
		}
	}
	return ""
}
