package dubbo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/internal/errname"
)

// maxUntaken bounds the calls back of a provider that wait to be received, for one stream. Further ones are answered with an error.
const maxUntaken = 64

// callbackStream is a stream of a provider's method with a callback: what the provider passes to the callback are its values. Each is answered when it was
// received, so a provider that waits for the answers is held back.
type callbackStream struct {
	link     *link
	to       calledMethod
	ctx      context.Context
	cancel   context.CancelFunc
	instance string // the number by which the provider calls back
	untaken  chan calledBack
	sent     bool // the call was made; of Send

	close sync.Once
}

// calledBack is a call back that was not answered yet.
type calledBack struct {
	frame
	inv *invocation
}

// open implements session: for methods with a callback, since this protocol has no other streams.
func (l *link) open(ctx context.Context, to calledMethod) (sabir.ForeignStream, error) {
	if to.callback == nil {
		return nil, sabir.Errorf(sabir.CodeUnimplemented, "NoStreams", "%s: the protocol dubbo carries no streams but callbacks: call it by tri://", to.action)
	}
	s := &callbackStream{link: l, to: to, untaken: make(chan calledBack, maxUntaken)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done || len(l.callbacks) >= maxCallbacks {
		s.cancel()
		return nil, l.provider.unreachable(to.action)
	}
	l.lastCallback++
	s.instance = strconv.Itoa(int(l.lastCallback))
	if l.callbacks == nil {
		l.callbacks = make(map[string]*callbackStream)
	}
	l.callbacks[s.instance] = s
	return s, nil
}

// takeCallBack gives a call back of the provider to its stream.
func (l *link) takeCallBack(f frame) {
	inv, err := readInvocation(f.body)
	if err != nil {
		l.held.free(len(f.body))
		l.refuse(&f, statusBadRequest, "the call back cannot be read: "+err.Error())
		return
	}
	l.mu.Lock()
	s := l.callbacks[inv.attachment(attachmentInstance)]
	status, text := byte(statusNoService), "nobody listens any more"
	if s != nil {
		select {
		case s.untaken <- calledBack{f, inv}: // under mu, so that Close finds all
			status = 0
		default:
			status, text = statusExhausted, fmt.Sprintf("%d values wait to be received", maxUntaken)
		}
	}
	l.mu.Unlock()
	if status != 0 {
		l.held.free(len(f.body))
		l.refuse(&f, status, text)
	}
}

// Send implements sabir.ForeignStream: it makes the call with its input, once.
func (s *callbackStream) Send(value any) error {
	if s.sent {
		return sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "%s takes one input: what follows are its values", s.to.action)
	}
	s.sent = true
	out, err := s.request(value)
	if err != nil {
		return sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the call of %s cannot be written: %w", s.to.action, err)
	}
	l, p := s.link, s.link.provider
	if len(out) > headerSize+maxBody {
		return sabir.Errorf(sabir.ErrMessageTooLarge.Code, sabir.ErrMessageTooLarge.Name, "the call of %s has %d bytes: %d is the limit of the protocol dubbo", s.to.action, len(out)-headerSize, maxBody)
	}
	answered := make(chan frame, 1)
	id, ok := l.add(answered)
	if !ok {
		return p.unreachable(s.to.action)
	}
	defer l.take(id)
	setID(out, id)
	if err := l.send(out); err != nil {
		return p.lost(s.to.action)
	}
	select {
	case f := <-answered:
		return s.outcome(&f)
	case <-l.ended:
		return p.lost(s.to.action)
	case <-s.ctx.Done():
		return sabir.AsError(s.ctx.Err())
	}
}

// request writes the call: null stands for the callback, whose number is an attachment.
func (s *callbackStream) request(value any) ([]byte, error) {
	to, at := s.to, s.to.callback.Argument
	values, err := arguments(slices.Delete(slices.Clone(to.types), at, at+1), value)
	if err != nil {
		return nil, err
	}
	version := to.of.version
	if version == "" {
		version = "0.0.0"
	}
	out, err := appendTexts(appendHeader(nil, flagRequest|flagTwoWay, 0, 0), protocolVersion, to.of.name, version, to.name, descriptorOf(to.types))
	if err != nil {
		return nil, err
	}
	e := hessian.NewEncoder(out)
	for _, v := range slices.Insert(values, at, nil) {
		if err := e.Encode(v); err != nil {
			return nil, err
		}
	}
	attachments := s.link.provider.bridge.attachmentsFor(s.ctx, to, false)
	attachments[attachmentCallback+strconv.Itoa(at)] = s.instance
	if out, err = hessian.Codec.Append(e.Bytes(), attachments); err != nil {
		return nil, err
	}
	return setLength(out), nil
}

// outcome is the error that the call was answered with; nil for none.
func (s *callbackStream) outcome(f *frame) error {
	p := s.link.provider
	if f.status != statusOK {
		var text string
		_ = hessian.Codec.Decode(f.body, &text) // what cannot be read is left out
		return errorOfStatus(f.status, text, p.id, s.to.action)
	}
	answer, err := readReply(f.body)
	if err != nil {
		return sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "the answer of %s at the Dubbo provider %s cannot be read: %w", s.to.action, p.id, err)
	}
	if answer.exception != nil {
		return errorOf(s.to.of, answer.exception, p.id)
	}
	return nil
}

// Recv implements sabir.ForeignStream. The stream ends with the connection or its context only: Dubbo has nothing by which a provider would end it.
func (s *callbackStream) Recv(value any) error {
	select {
	case one := <-s.untaken:
		return s.receive(one, value)
	default:
	}
	select {
	case one := <-s.untaken:
		return s.receive(one, value)
	case <-s.ctx.Done():
		return sabir.AsError(s.ctx.Err())
	case <-s.link.ended:
		return s.link.provider.lost(s.to.action)
	}
}

// receive reads the value of a call back, and answers that.
func (s *callbackStream) receive(one calledBack, value any) error {
	l := s.link
	defer l.held.free(len(one.body))
	if len(one.inv.types) != 1 {
		text := fmt.Sprintf("the callback of %s has %d arguments, and not one", s.to.action, len(one.inv.types))
		l.refuse(&one.frame, statusBadRequest, text)
		return sabir.NewError(sabir.CodeInternal, errname.BadOutput, text)
	}
	if err := hessian.Codec.Decode(one.inv.arguments, value); err != nil {
		l.refuse(&one.frame, statusBadRequest, "the value cannot be read: "+err.Error())
		return sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "a value of %s cannot be read: %w", s.to.action, err)
	}
	if one.is(flagTwoWay) {
		out := appendKind(appendHeader(nil, 0, statusOK, one.id), replyNull, one.inv.answersAttachments)
		if one.inv.answersAttachments {
			out = appendAttachments(out, map[string]string{"dubbo": protocolVersion})
		}
		if l.send(setLength(out)) != nil {
			return l.provider.lost(s.to.action)
		}
	}
	return nil
}

// CloseSend implements sabir.ForeignStream.
func (s *callbackStream) CloseSend() {}

// Close implements sabir.ForeignStream. A call back that comes later is answered with an error, by which providers learn that nobody listens.
func (s *callbackStream) Close() {
	s.close.Do(func() {
		s.cancel()
		l := s.link
		l.mu.Lock()
		delete(l.callbacks, s.instance)
		l.mu.Unlock()
		for {
			select {
			case one := <-s.untaken:
				l.held.free(len(one.body))
				l.refuse(&one.frame, statusNoService, "nobody listens any more")
			default:
				return
			}
		}
	})
}
