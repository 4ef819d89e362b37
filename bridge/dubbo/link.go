package dubbo

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/internal/errname"
)

// link is a connection to a provider, with the calls that wait for answers.
type link struct {
	*connection
	provider *provider
	closing  atomic.Bool   // the provider takes no more calls
	ended    chan struct{} // closed when the connection has ended
	ids      atomic.Int64

	mu      sync.Mutex
	waiting map[int64]chan frame
	done    bool

	callbacks    map[string]*callbackStream // by the numbers that the provider knows
	lastCallback int32
}

func newLink(p *provider, c *connection) *link {
	return &link{connection: c, provider: p, ended: make(chan struct{}), waiting: make(map[int64]chan frame)}
}

// read gives answers to those who wait, until the connection ends.
func (l *link) read() {
	defer l.end()
	for {
		f, err := l.next()
		switch {
		case err != nil:
			if !isEnd(err) && l.provider.bridge.ctx.Err() == nil {
				l.provider.bridge.drops.Note(l.provider.bridge.node.Log(), "the connection to a Dubbo provider ended", "provider", l.provider.id, "error", err)
			}
			return
		case f.is(flagEvent):
			l.held.free(len(f.body))
			l.closing.Store(true)
		case f.is(flagRequest):
			l.takeCallBack(f)
		default:
			l.held.free(len(f.body)) // the caller's from here
			if to := l.take(f.id); to != nil {
				to <- f
			}
		}
	}
}

func (l *link) end() {
	l.Close()
	l.mu.Lock()
	l.done = true
	l.mu.Unlock()
	close(l.ended)
}

// add makes an id for a call. It is false where the connection has ended.
func (l *link) add(answered chan frame) (id int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return 0, false
	}
	id = l.ids.Add(1)
	l.waiting[id] = answered
	return id, true
}

// take removes a call; nil where nobody waits for it any more.
func (l *link) take(id int64) chan frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	to := l.waiting[id]
	delete(l.waiting, id)
	return to
}

func (l *link) waits() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting) > 0 || len(l.callbacks) > 0
}

// over implements session.
func (l *link) over() <-chan struct{} { return l.ended }

// stops implements session.
func (l *link) stops() bool { return l.closing.Load() }

// silence implements session.
func (l *link) silence(now time.Time) time.Duration {
	return now.Sub(time.Unix(0, l.lastRead.Load()))
}

// call implements session.
func (l *link) call(ctx context.Context, to calledMethod, r *sabir.Request) error {
	p := l.provider
	held := buffers.Get().(*[]byte)
	out, err := p.appendRequest(ctx, to, r, (*held)[:0])
	if err != nil {
		return err
	}
	if len(out) > headerSize+maxBody {
		return sabir.Errorf(sabir.ErrMessageTooLarge.Code, sabir.ErrMessageTooLarge.Name, "the call of %s has %d bytes: %d is the limit of the protocol dubbo", to.action, len(out)-headerSize, maxBody)
	}
	answered := make(chan frame, 1)
	id, ok := l.add(answered)
	if !ok {
		return p.unreachable(to.action)
	}
	setID(out, id)
	err = l.send(out)
	putBuffer(held, out)
	if err != nil { // a part of it may have arrived
		l.take(id)
		return p.lost(to.action)
	}
	select {
	case f := <-answered:
		return p.finish(ctx, to.method, r, &f)
	case <-l.ended:
	case <-ctx.Done():
		l.take(id)
		return sabir.AsError(ctx.Err())
	}
	select { // the answer may have come just before the end
	case f := <-answered:
		return p.finish(ctx, to.method, r, &f)
	default:
		return p.lost(to.action)
	}
}

func (p *provider) appendRequest(ctx context.Context, to calledMethod, r *sabir.Request, dst []byte) ([]byte, error) {
	name, descriptor, generic := to.name, descriptorOf(to.types), to.types == nil
	if generic {
		name, descriptor = genericMethod, genericDescriptor
	}
	version := to.of.version
	if version == "" {
		version = "0.0.0"
	}
	out, err := appendTexts(appendHeader(dst, flagRequest|flagTwoWay, 0, 0), protocolVersion, to.of.name, version, name, descriptor)
	if err != nil {
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the call of %s cannot be written: %w", to.action, err)
	}
	if out, err = r.AppendInput(outgoing{to.method}, out); err != nil {
		return nil, err
	}
	out, err = hessian.Codec.Append(out, p.bridge.attachmentsFor(ctx, to, generic))
	if err != nil {
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the metadata of the call of %s cannot be written: %w", to.action, err)
	}
	return setLength(out), nil
}

// finish reads the answer of a call.
func (p *provider) finish(ctx context.Context, to *method, r *sabir.Request, f *frame) error {
	if f.status != statusOK {
		var text string
		_ = hessian.Codec.Decode(f.body, &text) // what cannot be read is left out
		return errorOfStatus(f.status, text, p.id, to.action)
	}
	answer, err := readReply(f.body)
	if err != nil {
		return sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "the answer of %s at the Dubbo provider %s cannot be read: %w", to.action, p.id, err)
	}
	collect(ctx, answer.attachments)
	if answer.exception != nil {
		return errorOf(to.of, answer.exception, p.id)
	}
	return r.DecodeOutput(outgoing{to}, answer.value)
}

// unreachable is the error of a call that was not sent, and so goes to another node.
func (p *provider) unreachable(action string) *sabir.Error {
	e := sabir.Errorf(sabir.ErrServiceUnavailable.Code, sabir.ErrServiceUnavailable.Name, "%s cannot be called: there is no connection to the Dubbo provider %s, or it is stopping", action, p.id).AsRetryable()
	e.Node = p.id
	return e
}

// lost is the error of a call whose provider has gone: it may have been made.
func (p *provider) lost(action string) *sabir.Error {
	e := sabir.NewError(sabir.ErrLinkLost.Code, sabir.ErrLinkLost.Name, fmt.Sprintf("the connection to the Dubbo provider %s was lost before %s was answered", p.id, action))
	e.Node = p.id
	return e
}
