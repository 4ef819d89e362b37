package moleculer

import (
	"context"
	"io"
	"strconv"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/requestid"
)

type sendParamsKey struct{}

// WithParams returns a context with which the next stream to an action of a Moleculer node is opened: the params go with its first packet, and
// what is sent in it is a stream there, even if it is one value or none. Without it one value and CloseSend are the params of a plain request,
// as sabir.CallStream makes. Moleculer 0.14 has them as the member $params of meta.
func WithParams(ctx context.Context, params any) context.Context {
	return context.WithValue(ctx, sendParamsKey{}, outgoing{params, sabir.InfoFromContext(ctx).Depth})
}

// Open implements sabir.ForeignNode. Moleculer does not announce which actions are streams: any can be opened, and one that answers with a
// single value is a stream of one. The request is sent when it is known what it is: see WithParams.
func (p *peer) Open(ctx context.Context, action *sabir.Action) (sabir.ForeignStream, error) {
	name := action.Name
	if full, short := p.offers.Load().full[name]; short {
		name = full
	}
	if p.bridge.down.Load() || p.ctx.Err() != nil {
		return nil, unreachable(name, p.id)
	}
	s := &opened{peer: p, sent: sabir.InfoFromContext(ctx).Metadata}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.params, s.upload = valueAt(ctx, sendParamsKey{})
	s.call = &pendingCall{id: requestid.New(), node: p.id, action: name, stream: newChunks(&p.bridge.waiting)}
	p.bridge.calls.add(s.call)
	return s, nil
}

// opened is a stream that was opened to a Moleculer node.
type opened struct {
	peer   *peer
	ctx    context.Context
	cancel context.CancelFunc
	call   *pendingCall
	sent   map[string]string // metadata
	params any

	mu     sync.Mutex
	upload bool // what is sent is a stream there
	first  []byte
	held   bool // first is the first value, which was not sent yet
	pieces bool // values are bytes
	begun  bool
	closed bool
	seq    int

	ended error // by Recv
}

// Send implements sabir.ForeignStream.
func (s *opened) Send(value any) error {
	_, isBytes := value.(*[]byte)
	data, err := pieces{s.peer.bridge.wire.values}.Append(nil, value)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return io.EOF
	case !s.begun && !s.held && !s.upload:
		s.first, s.held, s.pieces = data, true, isBytes
		return nil
	case !s.begun:
		s.pieces = isBytes || s.held && s.pieces
		if err := s.begin(); err != nil {
			return err
		}
	}
	return s.put(data, isBytes)
}

// begin sends the first packet of a stream, and the value that was held. The caller holds mu.
func (s *opened) begin() error {
	s.begun, s.upload = true, true
	err := s.packet(true, func(dst []byte) ([]byte, error) {
		if s.peer.version == "5" && s.params != nil {
			return s.peer.bridge.wire.values.Append(dst, s.params)
		}
		return append(dst, s.peer.bridge.wire.null...), nil
	}, "")
	if err == nil && s.held {
		s.held = false
		err = s.put(s.first, s.pieces)
		s.first = nil
	}
	return err
}

// put sends a value of the stream. The caller holds mu.
func (s *opened) put(data []byte, isBytes bool) error {
	if !isBytes {
		return s.packet(true, func(dst []byte) ([]byte, error) { return append(dst, data...), nil }, "")
	}
	for {
		piece := data[:min(len(data), maxPiece)]
		data = data[len(piece):]
		if err := s.packet(true, func(dst []byte) ([]byte, error) { return s.peer.bridge.wire.values.Append(dst, piece) }, ""); err != nil || len(data) == 0 {
			return err
		}
	}
}

// packet sends the next packet of the stream, with a member for its headers. The caller holds mu.
func (s *opened) packet(more bool, payload func(dst []byte) ([]byte, error), member string) error {
	p := s.peer
	if s.ctx.Err() != nil {
		return io.EOF // for a reason that Recv returns
	}
	w := writing{as: p.bridge.wire, out: p.bridge.appendHead(nil, p.version)}
	w.out = p.appendCall(s.ctx, w.out, s.call.id, s.call.action)
	w.out = strconv.AppendBool(append(w.out, `,"stream":`...), more)
	w.out = strconv.AppendInt(append(w.out, `,"seq":`...), int64(s.seq), 10)
	sent := s.sent
	if s.seq > 0 {
		sent = nil
	}
	if !s.pieces && member == "" {
		member = `"` + objectMode + `":true`
	}
	if s.seq == 0 && p.version == "4" && s.params != nil {
		text, err := format.Append(nil, s.params)
		if err != nil {
			return err
		}
		if member != "" {
			member += ","
		}
		member += `"` + metaParams + `":` + string(text)
	}
	w.out = p.appendOrigin(s.ctx, w.out, s.call.id, sent, member)
	if err := w.payload("params", payload); err != nil {
		return err
	}
	if err := p.bridge.request(p, s.call, &w); err != nil {
		return err
	}
	s.seq++
	return nil
}

// CloseSend implements sabir.ForeignStream.
func (s *opened) CloseSend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if !s.begun && !s.upload {
		if err := s.plain(); err != nil {
			s.call.stream.fail(err)
		}
		return
	}
	var err error
	if !s.begun {
		err = s.begin()
	}
	if err == nil {
		err = s.packet(false, s.nothing, "")
	}
	if err != nil && err != io.EOF {
		s.call.stream.fail(err)
	}
}

func (s *opened) nothing(dst []byte) ([]byte, error) {
	return append(dst, s.peer.bridge.wire.null...), nil
}

// plain sends a request without a stream. The caller holds mu.
func (s *opened) plain() error {
	p := s.peer
	s.begun = true
	w := writing{as: p.bridge.wire, out: p.bridge.appendHead(nil, p.version)}
	w.out = append(p.appendCall(s.ctx, w.out, s.call.id, s.call.action), `,"stream":false`...)
	w.out = p.appendOrigin(s.ctx, w.out, s.call.id, s.sent, "")
	payload := s.nothing
	switch {
	case s.held && s.pieces:
		payload = func(dst []byte) ([]byte, error) { return p.bridge.wire.values.Append(dst, s.first) }
	case s.held:
		payload = func(dst []byte) ([]byte, error) { return append(dst, s.first...), nil }
	}
	if err := w.payload("params", payload); err != nil {
		return err
	}
	return p.bridge.request(p, s.call, &w)
}

// Recv implements sabir.ForeignStream.
func (s *opened) Recv(value any) error {
	if s.ended != nil {
		return s.ended
	}
	s.mu.Lock()
	if !s.begun {
		if err := s.begin(); err != nil && err != io.EOF {
			s.call.stream.fail(err)
		}
	}
	s.mu.Unlock()
	one, ok := s.call.stream.take(s.ctx.Done())
	switch {
	case !ok:
		s.ended = sabir.AsError(s.ctx.Err())
		return s.ended
	case one.last:
		if s.ended = one.err; s.ended == nil {
			s.ended = io.EOF
		}
		s.Close()
		return s.ended
	}
	mergeBack(s.ctx, s.sent, one.meta)
	wire := s.peer.bridge.wire
	if to, isBytes := value.(*[]byte); isBytes {
		data, err := wire.pieceOf(one.value)
		*to = data
		return err
	}
	return wire.values.Decode(one.value, value)
}

// Close implements sabir.ForeignStream.
func (s *opened) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.peer.bridge
	running := b.calls.take(s.call.id, s.call.node) != nil
	if running && s.upload && s.begun && !s.closed && s.ctx.Err() == nil {
		s.abandon()
	}
	s.closed = true
	s.cancel()
	s.call.stream.close()
}

// abandon tells the node that no more of the stream comes. The caller holds mu.
func (s *opened) abandon() {
	e := wireError{Name: "RequestRejectedError", Message: "the caller has closed the stream", Code: 503, Type: "REQUEST_REJECTED", NodeID: s.peer.bridge.id,
		Data: map[string]any{"action": s.call.action, "nodeID": s.peer.bridge.id}}
	_ = s.packet(false, s.nothing, `"`+streamError+`":`+string(e.append(nil)))
}

// takeStreamed takes an answer that belongs to a stream, or to a call that was opened as one.
func (b *bridge) takeStreamed(answer *response) bool {
	c := b.calls.find(answer.ID, answer.Sender)
	if c == nil {
		return true // of a call that nobody waits for any more
	}
	streamed := bool(answer.Stream) || answer.Seq != nil
	if c.stream == nil {
		if streamed && b.calls.take(answer.ID, answer.Sender) != nil {
			c.failed <- sabir.Errorf(sabir.CodeInvalidArgument, errname.StreamWanted, "%s answers with a stream: use OpenStream or CallStream", c.action)
		}
		return streamed
	}
	one := chunk{value: b.wire.present(answer.Data), meta: answer.Meta}
	end := chunk{last: true}
	if !answer.Success {
		end.err = errorFrom(answer.Error, answer.Sender)
	}
	switch {
	case !streamed && answer.Success:
		c.stream.put(1, one)
		c.stream.put(2, end)
	case !streamed:
		c.stream.fail(end.err)
	case *answer.seq() == 0 && bool(answer.Stream):
		// It begins. A value comes with the next.
	case bool(answer.Stream):
		c.stream.put(*answer.seq(), one)
	default:
		c.stream.put(*answer.seq(), end)
	}
	return true
}

// seq is the number of the packet in its stream.
func (s *inStream) seq() *int {
	if s.Seq == nil {
		return new(int)
	}
	return s.Seq
}
