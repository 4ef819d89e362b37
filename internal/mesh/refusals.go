package mesh

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"

	"github.com/sabir-go/sabir/internal/wire"
)

// refusals logs the connections that were not taken: the first of each cause at once, and then, once a second, how many there
// were since. Anybody who reaches the port can make as many as he likes.
type refusals struct {
	log  *slog.Logger
	node string

	mu     sync.Mutex
	counts map[string]*refusal // by cause, since the last flush
}

type refusal struct {
	level slog.Level
	more  int // that are not logged
	from  net.Addr
	err   error
}

const (
	causeTooMany = "too many connections have not proved who they are"
	// causeNewer is ordinary while a cluster is upgraded.
	causeNewer = "a node of a later release asks for a kind of connection that this one does not know, and does without"
)

// add notes a refusal. The causes must be few.
func (r *refusals) add(cause string, from net.Addr, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.counts[cause]; known != nil {
		known.more++
		known.from, known.err = from, err
		return
	}
	if r.counts == nil {
		r.counts = make(map[string]*refusal)
	}
	level := slog.LevelWarn
	if cause == causeNewer {
		level = slog.LevelInfo
	}
	r.counts[cause] = &refusal{level: level}
	r.log.Log(context.Background(), level, "connection refused", "node", r.node, "cause", cause, "from", from, "error", err)
}

// flush logs what was only counted. It is called once a second.
func (r *refusals) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for cause, known := range r.counts {
		if known.more == 0 {
			delete(r.counts, cause)
			continue
		}
		r.log.Log(context.Background(), known.level, "connections refused", "node", r.node, "cause", cause, "count", known.more, "last_from", known.from, "error", known.err)
		r.counts[cause] = &refusal{level: known.level}
	}
}

// refused notes why the handshake of a connection that was accepted failed.
func (m *Mesh) refused(conn net.Conn, err error) {
	if ordinary(err) {
		m.log.Debug("connection not made", "node", m.config.Node, "from", conn.RemoteAddr(), "error", err)
		return
	}
	cause := "handshake"
	if of := causeOfTLS(err); of != "" {
		cause = of
	} else if errors.Is(err, wire.ErrNewerPurpose) {
		cause = causeNewer
	} else if refused, ok := errors.AsType[*wire.HandshakeError](err); ok {
		cause = string(refused.Reason)
	}
	m.refusals.add(cause, conn.RemoteAddr(), err)
}

// causeOfTLS returns which certificate was refused; "" where none was. The error of the handshake alone says that the connection was lost.
func causeOfTLS(err error) string {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "this node does not accept the certificate of the other"
	}
	if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" {
		return "the other side ended the handshake of TLS: it may not accept the certificate of this node"
	}
	return ""
}

// ordinary reports whether a handshake ended as happens without any fault: the other side closed the connection, as nodes do
// that have got another one meanwhile and probes that ask whether the port is open, or it is this node itself that dialled, or
// one of the two sides is leaving.
func ordinary(err error) bool {
	refused, ok := errors.AsType[*wire.HandshakeError](err)
	if !ok {
		return false
	}
	switch refused.Reason {
	case wire.ReasonSelf, wire.ReasonRefused, wire.ReasonCanceled:
		return true
	case wire.ReasonLost:
		return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
			errors.Is(err, net.ErrClosed) || errors.Is(err, context.Canceled)
	}
	return false
}
