package http

import (
	"bufio"
	nethttp "net/http"
	"strings"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/internal/transports"
)

// subprotocol is the name that both sides send in Sec-WebSocket-Protocol, so that no other kind of WebSocket passes for a link.
const subprotocol = "sabir"

// upgrade makes a connection of a request, or answers why not.
func upgrade(w nethttp.ResponseWriter, r *nethttp.Request, served *transports.Served) {
	switch {
	case r.Method != nethttp.MethodGet:
		w.Header().Set("Allow", nethttp.MethodGet)
		refuse(w, nethttp.StatusMethodNotAllowed, "Nodes of Sabir meet here, by GET with a WebSocket handshake.")
		return
	case r.Header.Get("Origin") != "":
		refuse(w, nethttp.StatusForbidden, "Nodes of Sabir meet here. Web pages cannot take part.")
		return
	case r.ProtoMajor != 1 || r.Header.Get("Sec-WebSocket-Key") == "":
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		refuse(w, nethttp.StatusUpgradeRequired, "Nodes of Sabir meet here, over WebSocket by HTTP/1.1. There is no page to see.")
		return
	case !offers(r.Header):
		refuse(w, nethttp.StatusBadRequest, "Nodes of Sabir meet here. The WebSocket handshake must offer the protocol "+subprotocol+".")
		return
	}
	upgrader := ws.HTTPUpgrader{Timeout: requestTime, Protocol: func(p string) bool { return p == subprotocol }}
	raw, buffered, _, err := upgrader.Upgrade(r, w)
	if err != nil {
		if raw != nil {
			raw.Close()
		}
		return
	}
	conn := newConn(raw, false, rest(buffered.Reader))
	var below *transports.Socket // none of another's web server
	if checked, ok := raw.(*httpstrict.Conn); ok {
		below, _ = checked.NetConn().(*transports.Socket)
	}
	if !served.Deliver(conn, below) {
		conn.Close()
	}
}

func offers(header nethttp.Header) bool {
	for _, line := range header["Sec-Websocket-Protocol"] {
		for p := range strings.SplitSeq(line, ",") {
			if strings.TrimSpace(p) == subprotocol {
				return true
			}
		}
	}
	return false
}

// refuse answers a request that is no link's.
func refuse(w nethttp.ResponseWriter, code int, why string) {
	nethttp.Error(w, why, code)
}

// rest is a copy of what a reader has read ahead, nil for nothing.
func rest(r *bufio.Reader) []byte {
	if r == nil || r.Buffered() == 0 {
		return nil
	}
	ahead, _ := r.Peek(r.Buffered())
	return append([]byte(nil), ahead...)
}
