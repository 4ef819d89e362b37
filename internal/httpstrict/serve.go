package httpstrict

import (
	"crypto/tls"
	"net"
	"net/http"
)

// Serve serves the connections of l until the server is shut down or closed, as [http.Server.Serve] does, without the requests that
// are refused: the server's ErrorLog has a line for each, if it is set. Requests of HTTP/2 too are refused where a header with one value comes twice. Where the server has a TLSConfig the connections are
// TLS with HTTP/1.1 alone. It wraps the server's ConnState and its Handler; what its ConnContext gets is a *[Conn] or a *[TLSConn].
func Serve(server *http.Server, l net.Listener) error {
	changed := server.ConnState
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateHijacked {
			ChangeProtocol(c)
		}
		if changed != nil {
			changed(c, state)
		}
	}
	if _, wrapped := server.Handler.(withoutRepeats); !wrapped && server.Handler != nil {
		server.Handler = withoutRepeats{server.Handler}
	}
	checked := listener{Listener: l, server: server}
	if server.TLSConfig != nil {
		checked.tls = server.TLSConfig.Clone()
		checked.tls.NextProtos = []string{"http/1.1"}
	}
	return server.Serve(checked)
}

type listener struct {
	net.Listener
	server *http.Server
	tls    *tls.Config // nil for none
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	report := func(reason string) {
		if log := l.server.ErrorLog; log != nil {
			log.Printf("a request from %s was refused: %s", c.RemoteAddr(), reason)
		}
	}
	if l.tls == nil {
		return NewConn(c, nil, l.server.Protocols != nil && l.server.Protocols.UnencryptedHTTP2(), report), nil
	}
	over := tls.Server(c, l.tls)
	return &TLSConn{NewConn(over, nil, false, report), over}, nil
}
