package http

import (
	"context"
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/tcp" // whose sockets this runs over
)

const (
	// requestTime bounds a request: TLS, its header and the answer.
	requestTime = 5 * time.Second
	idleTime    = 5 * time.Second
	headerSize  = 16 << 10
)

// silent drops what net/http logs about clients of other protocols: any client can cause such lines.
var silent = log.New(io.Discard, "", 0)

func (d driver) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	if err := d.check(at, config); err != nil {
		return nil, err
	}
	full := d.whole(at)
	if h := mountedAt(full); h != nil {
		return h.listen(full, config)
	}
	scheme := "tcp"
	if d.encrypted {
		scheme = "tls"
	}
	below, socketAt, err := socket(scheme, at) // without a port filled in: one to listen on must be given
	if err != nil {
		return nil, err
	}
	sockets, err := below.Listen(ctx, socketAt, config)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", at, err)
	}
	bound, err := url.Parse(sockets.Addr())
	if err != nil {
		sockets.Close()
		return nil, err
	}
	full.Host = bound.Host
	served := transports.NewServed(sockets, full.String())
	paths := nethttp.NewServeMux()
	paths.HandleFunc("/", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path != full.Path {
			refuse(w, nethttp.StatusNotFound, "Nothing is here. Nodes of Sabir meet at "+full.Path+".")
			return
		}
		upgrade(w, r, served)
	})
	server := nethttp.Server{
		Handler:        paths,
		Protocols:      new(nethttp.Protocols),
		ReadTimeout:    requestTime,
		WriteTimeout:   requestTime,
		IdleTimeout:    idleTime,
		MaxHeaderBytes: headerSize,
		ErrorLog:       silent,
	}
	server.Protocols.SetHTTP1(true)
	go httpstrict.Serve(&server, served.Sockets())
	return served, nil
}
