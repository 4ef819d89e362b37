package httpstream

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/isolate"
)

// Subprotocol must be offered by a WebSocket for streams and events, in Sec-WebSocket-Protocol.
const Subprotocol = "sabir.v1"

// closeTimeout bounds the wait for the other side's Close after the node's own.
const closeTimeout = time.Second

// isUpgrade reports whether the request wants to be a WebSocket. Over HTTP/2 none can (RFC 8441 is not offered), so the headers
// mean nothing there.
func isUpgrade(r *http.Request) bool {
	return r.ProtoMajor == 1 && hasToken(r.Header["Connection"], "upgrade", strings.EqualFold) && hasToken(r.Header["Upgrade"], "websocket", strings.EqualFold)
}

func hasToken(lines []string, token string, same func(a, b string) bool) bool {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			if same(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

// exactly compares subprotocols, which have a case, unlike other tokens of a handshake.
func exactly(a, b string) bool { return a == b }

// checkUpgrade finds what is wrong with a handshake (RFC 6455, section 4.2.1).
func (x *session) checkUpgrade() error {
	r := x.r
	origin := r.Header.Get("Origin")
	switch {
	case r.Method != http.MethodGet:
		x.w.Header().Set("Allow", "GET")
		return sabir.NewError(sabir.CodeUnimplemented, errname.MethodNotAllowed, "a WebSocket is opened with GET")
	case r.Header.Get("Sec-WebSocket-Version") != "13":
		x.w.Header().Set("Sec-WebSocket-Version", "13")
		return badInput("the WebSocket's version is %.20q: want 13", r.Header.Get("Sec-WebSocket-Version"))
	case len(r.Header.Get("Sec-WebSocket-Key")) != 24:
		return badInput("the WebSocket's handshake has no Sec-WebSocket-Key of 24 characters")
	case !hasToken(r.Header["Sec-Websocket-Protocol"], Subprotocol, exactly):
		return badInput("the WebSocket's handshake must offer the protocol %s", Subprotocol)
	case r.ContentLength != 0: // its bytes would be taken for messages
		return badInput("the WebSocket's handshake has a body")
	case origin != "" && !x.ownOrigin(origin) && (x.call.Origin == nil || !x.call.Origin(origin)):
		return sabir.NewError(sabir.CodePermissionDenied, errname.CrossOrigin, "a browser sent this for a page of another site, which this node does not take")
	}
	return nil
}

// ownOrigin reports whether the page comes from where the request goes to. A proxy in front may have taken the encryption off,
// so the scheme is not compared.
func (x *session) ownOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, x.r.Host)
}

// socket is the WebSocket of a session.
type socket struct {
	*session
	conn   net.Conn
	frames *frameReader
	box    *outbox
	reads  readTimer
}

// newSocket makes the WebSocket of a session whose handshake is still to be answered, so that nothing is missed meanwhile.
func (x *session) newSocket() *socket { return &socket{session: x, box: newOutbox(x.out)} }

// upgrade answers the handshake. After that no other answer can be given.
func (k *socket) upgrade() error {
	header := k.w.Header().Clone()
	header.Del("Connection")
	upgrader := ws.HTTPUpgrader{Timeout: k.limits.Write, Header: header, Protocol: func(p string) bool { return p == Subprotocol }}
	conn, buffered, _, err := upgrader.Upgrade(k.r, k.w)
	if err != nil {
		if conn != nil {
			conn.Close()
		}
		return errGone
	}
	k.conn, k.reads.set = conn, conn.SetReadDeadline
	k.connected.Store(&conn)
	k.frames = newFrameReader(&timedConn{k}, buffered.Reader, k.limits.Value+envelopeOverhead)
	k.frames.ping, k.frames.window = k.box.replyPing, k.in
	return nil
}

// timedConn is a connection from which something must come in a while, if only pongs.
type timedConn struct{ k *socket }

func (c *timedConn) Read(p []byte) (int, error) {
	c.k.reads.renew(2*c.k.limits.Heartbeat + c.k.limits.Write)
	return c.k.conn.Read(p)
}

// runWebSocket is a stream over a WebSocket.
func (x *session) runWebSocket() error {
	if err := x.checkUpgrade(); err != nil {
		return err
	}
	s, err := x.openStream()
	if err != nil {
		return err
	}
	defer s.close()
	k := x.newSocket()
	if err := k.upgrade(); err != nil {
		return err
	}
	defer k.watchCaller()()
	var running sync.WaitGroup
	running.Go(func() { isolate.Run(func() error { return k.pump(s) }, k.box.end) })
	running.Go(func() { k.feed(s) })
	k.serve()
	s.close()
	k.part()
	running.Wait()
	k.conn.Close()
	return nil
}

// pump puts the stream's values into the box, each in a message of its own.
func (k *socket) pump(s *values) error {
	var head []byte
	for {
		value, err := k.receiveJSON(s)
		if err != nil {
			return lastOf(err)
		}
		head = appendHead(head[:0], ws.OpText, len(valuePrefix)+len(value)+len(valueSuffix))
		if !k.box.put(append(head, valuePrefix...), value, valueSuffix) {
			return errGone
		}
	}
}

// feed sends the stream what comes, until the other side goes. After the last message of either side it reads on for the other
// side's Close.
func (k *socket) feed(s *values) {
	isolate.Run(func() error { return k.feedValues(s) }, func(err error) {
		if !ended(err) {
			k.fail(err)
		}
		k.frames.discard()
	})
}

// feedValues returns io.EOF when the stream has ended, else why nothing more comes.
func (k *socket) feedValues(s *values) error {
	closed := false // the other side has signalled that no more values come
	for {
		text, err := k.frames.next()
		if err != nil {
			return k.broken(err)
		}
		value, last, err := parseMessage(text)
		switch {
		case err != nil:
			return &brokenError{ws.StatusInvalidFramePayloadData, err}
		case closed && !last:
			return &brokenError{ws.StatusPolicyViolation, badInput("a value came after the end")}
		case last && !closed:
			closed = true
			s.closeSend()
		case !last:
			if err := k.sendJSON(s, value, "the value of a message", 0, true); err != nil {
				if sabir.AsError(err).Name == sabir.ErrBadInput.Name {
					err = &brokenError{ws.StatusInvalidFramePayloadData, err}
				}
				return err
			}
		}
	}
}

// brokenError is the other side's fault, and the code of the Close that reports it.
type brokenError struct {
	code ws.StatusCode
	why  error
}

func (e *brokenError) Error() string { return e.why.Error() }
func (e *brokenError) Unwrap() error { return e.why }

// broken is the error that ended the messages.
func (k *socket) broken(err error) error {
	bad, ok := err.(frameError)
	switch {
	case !ok:
		return errGone // with or without a Close
	case bad.code == ws.StatusMessageTooBig:
		return &brokenError{bad.code, tooLargeIn("the value of a message", k.limits.Value)}
	}
	return &brokenError{bad.code, badInput("%s", bad.why)}
}

// serve writes the values of the box until it ends or the session does, and sends a Close.
func (k *socket) serve() {
	silence := time.NewTimer(k.limits.Heartbeat)
	defer silence.Stop()
	for {
		silent := false
		select {
		case <-k.box.ready:
		case <-silence.C:
			silent = true
		case <-k.ctx.Done():
			k.box.end(k.ctx.Err())
		}
		p := k.box.take()
		data := p.data
		switch {
		case p.pinged:
			data = append(appendHead(data, ws.OpPong, len(p.pong)), p.pong...)
		case silent && !p.inside:
			data = appendHead(data, ws.OpPing, 0)
		}
		if p.ended {
			k.last(data, p.inside, p.err)
			return
		}
		if len(data) > 0 {
			if k.send(data) != nil {
				k.fail(errGone)
				return
			}
			k.box.sent()
			silence.Reset(k.limits.Heartbeat)
		}
	}
}

// last writes the rest of the values, the end of the stream, and a Close.
func (k *socket) last(data []byte, inside bool, failed error) {
	if failed != nil {
		failed = k.reason(failed)
	}
	if failed == errGone {
		// The other side may have sent a Close, which must be answered.
		if k.frames.closed && !inside {
			data = appendClose(data, k.frames.code, "")
			k.send(data)
		}
		return
	}
	if inside { // nothing can follow half a message
		k.send(data)
		return
	}
	text := endMessage
	if failed != nil {
		text = appendError(nil, k.problem(failed))
	}
	data = append(appendHead(data, ws.OpText, len(text)), text...)
	code, reason := closeCode(failed), ""
	if code == unauthenticated { // clients that do not know the message see why they were sent out
		reason = sabir.AsError(failed).Name
	}
	k.send(appendClose(data, code, reason))
}

// closeCode is the code of the Close behind an error.
func closeCode(failed error) ws.StatusCode {
	switch e := failed.(type) {
	case nil:
		return ws.StatusNormalClosure
	case *brokenError:
		return e.code
	case *sabir.Error:
		if e.Code == sabir.CodeUnavailable && e.Name == sabir.ErrServiceUnavailable.Name {
			return ws.StatusGoingAway
		}
		if e.Code == sabir.CodeUnauthenticated {
			return unauthenticated
		}
		if e.Retryable {
			return tryAgainLater
		}
	}
	return ws.StatusInternalServerError
}

// unauthenticated is the code for a caller that is not known, or not any more: those from 4000 on are for applications, and
// this one is 4000 and the status that HTTP has for it.
const unauthenticated ws.StatusCode = 4401

// tryAgainLater is the code 1013 of IANA's registry.
const tryAgainLater ws.StatusCode = 1013

// send writes frames. A peer that takes too long over a part is cut off.
func (k *socket) send(data []byte) error {
	for len(data) > 0 {
		n := min(len(data), outboxSize)
		k.conn.SetWriteDeadline(time.Now().Add(k.limits.Write))
		if k.slow.Load() {
			return errGone
		}
		if _, err := k.conn.Write(data[:n]); err != nil {
			return err
		}
		k.out.Progress()
		data = data[n:]
	}
	return nil
}

// part lets both sides go: the reading goes on for a moment, so that the other side gets the last messages before the connection
// is closed under what it sends (RFC 6455, section 7.1.1), and nothing is put any more.
func (k *socket) part() {
	k.box.close()
	k.reads.interruptAt(time.Now().Add(closeTimeout))
}
