package dubbo

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/hessian"
)

// Callback makes a method a stream of values that the provider hands to an argument, by calls back over the caller's own connection: Dubbo's argument
// callbacks, which the protocol dubbo has in place of streams. The method itself returns at once, and nothing tells that there are no more values:
// the stream ends with one of the two sides.
type Callback struct {
	// Argument is the position of the argument among the Parameters of the method, from 0.
	Argument int
	// Interface is the full name of the argument's interface: "com.shop.PriceListener". It is needed.
	Interface string
	// Method is the method of the interface that is called with each value. It is needed.
	Method string
	// Parameter is the Java type of the method's one parameter, such as "com.shop.Price". It is needed.
	Parameter string
}

const (
	// maxCallbacks bounds the streams that one consumer has open.
	maxCallbacks = 1000
	// callbackLimit is the time in which a consumer must have taken a value.
	callbackLimit = time.Minute

	// attachmentCallback, with the position of an argument behind it, has the consumer's number for what it passed there.
	attachmentCallback = "sys_callback_arg-"
	// attachmentInstance has that number in calls back.
	attachmentInstance = "callback.service.instid"
)

// check reports what cannot work, for a method of so many parameters.
func (c *Callback) check(parameters int) error {
	switch {
	case c.Argument < 0 || c.Argument >= parameters:
		return fmt.Errorf("the Argument %d of the Callback is none of the %d Parameters", c.Argument, parameters)
	case c.Interface == "" || c.Method == "" || c.Parameter == "":
		return errors.New("the Callback needs Interface, Method and Parameter")
	}
	if known, err := typesOf(descriptorOf([]string{c.Parameter})); err != nil || len(known) != 1 {
		return fmt.Errorf("the Parameter %q of the Callback is no type as Java's source has it, such as int, java.lang.String, long[]", c.Parameter)
	}
	return nil
}

// callbackParameters adds those of an interface's callbacks in registries, without which a consumer sends none.
func (m *mapping) callbackParameters(params map[string]string) {
	for _, one := range m.methods {
		if one.callback != nil {
			params[one.name+"."+strconv.Itoa(one.callback.Argument)+".callback"] = "true"
			params[one.name+".return"] = "true" // Dubbo 3.3 looks for callbacks of a method only where it has a parameter of one word too
			params["callbacks"] = strconv.Itoa(maxCallbacks)
		}
	}
}

// callbacks holds what a connection of a consumer has open by callbacks.
type callbacks struct {
	mu      sync.Mutex
	open    int
	last    int64
	waiting map[int64]chan frame // calls back, by ids
}

// begin counts a stream. It is false where there are as many as there may be.
func (c *callbacks) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= maxCallbacks {
		return false
	}
	c.open++
	return true
}

func (c *callbacks) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

// add makes an id for a call back.
func (c *callbacks) add() (id int64, answered chan frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting = make(map[int64]chan frame)
	}
	c.last++
	answered = make(chan frame, 1)
	c.waiting[c.last] = answered
	return c.last, answered
}

// take removes a call back; nil where nobody waits for it any more.
func (c *callbacks) take(id int64) chan frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	to := c.waiting[id]
	delete(c.waiting, id)
	return to
}

// openCallback opens the stream of a method with a callback. What fails before it is open is the answer of the call.
func (b *bridge) openCallback(c *connection, m *mapping, one *method, inv *invocation) error {
	action := b.served(m, one.action)
	if action == nil || !action.Stream {
		return notFound(m, inv, b)
	}
	instance := inv.attachment(attachmentCallback + strconv.Itoa(one.callback.Argument))
	if instance == "" {
		return sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "%s: the argument %d is no callback: the consumer's URL or reference needs %s.%d.callback=true", one.name, one.callback.Argument, one.name, one.callback.Argument)
	}
	if err := inv.leaveOut(one.callback.Argument); err != nil {
		return sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "%s: the arguments cannot be read: %w", one.name, err)
	}
	in, err := inv.inbound(c.streams, nil)
	if err != nil {
		return err
	}
	in.Limit = 0 // that of the call is for its answer, which does not wait for the stream
	if !c.callbacks.begin() {
		return sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrTooManyCalls.Name, "%s: the consumer has %d callbacks open, which is all there may be", one.name, maxCallbacks)
	}
	stream, err := action.Open(in, inv)
	if err == nil {
		if err = stream.Send(inv.arguments); err == io.EOF { // it has ended already: Recv says why
			err = nil
		}
		stream.CloseSend()
	}
	if err != nil {
		if stream != nil {
			stream.Close()
		}
		c.callbacks.end()
		return err
	}
	b.running.Go(func() {
		defer c.callbacks.end()
		defer stream.Close()
		if err := c.deliver(stream, m, one.callback, instance); err != nil && c.streams.Err() == nil {
			b.drops.Note(b.node.Log(), "a stream to a callback of a Dubbo consumer has ended", "from", c.RemoteAddr(), "action", one.action, "error", err)
		}
	})
	return nil
}

// leaveOut takes an argument out of those of a call.
func (inv *invocation) leaveOut(position int) error {
	d := takeDecoder(inv.arguments)
	defer putDecoder(d)
	var before, after int
	for i := range inv.types {
		if i == position {
			before = len(inv.arguments) - d.Len()
		}
		if err := d.Skip(); err != nil {
			return err
		}
		if i == position {
			after = len(inv.arguments) - d.Len()
		}
	}
	inv.arguments = slices.Concat(inv.arguments[:before], inv.arguments[after:]) // its own: the request's body is used again
	inv.types = slices.Delete(slices.Clone(inv.types), position, position+1)
	inv.declared = true
	return nil
}

// deliver calls back with each value, one after the other, until the stream or the connection ends.
func (c *connection) deliver(stream *sabir.Stream[[]byte, []byte], m *mapping, to *Callback, instance string) error {
	for {
		value, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = c.callBack(m, to, instance, value)
		}
		if err != nil {
			return err
		}
	}
}

// callBack calls the consumer's object with a value and waits until it has taken it.
func (c *connection) callBack(m *mapping, to *Callback, instance string, value []byte) error {
	attachments := map[string]string{"path": to.Interface, "interface": to.Interface, attachmentInstance: instance}
	if m.group != "" {
		attachments["group"] = m.group
	}
	out, err := appendTexts(appendHeader(nil, flagRequest|flagTwoWay, 0, 0), protocolVersion, to.Interface)
	if err == nil {
		out, err = appendTexts(append(out, 'N'), to.Method, descriptorOf([]string{to.Parameter})) // a callback has no version, which Java looks it up by
	}
	if err != nil {
		return err
	}
	if out, err = hessian.Codec.Append(append(out, value...), attachments); err != nil {
		return err
	}
	if len(out) > headerSize+maxBody {
		return fmt.Errorf("a value of %d bytes: %d is the limit of the protocol dubbo", len(value), maxBody)
	}
	id, answered := c.callbacks.add()
	defer c.callbacks.take(id)
	setID(out, id)
	if err := c.send(setLength(out)); err != nil {
		return err
	}
	late := time.NewTimer(callbackLimit)
	defer late.Stop()
	select {
	case f := <-answered:
		defer c.held.free(len(f.body))
		return answerOf(&f)
	case <-c.streams.Done():
		return c.streams.Err()
	case <-late.C:
		return fmt.Errorf("the callback has not taken a value for %v", callbackLimit)
	}
}

// answerOf is the error that a call back was answered with; nil for none.
func answerOf(f *frame) error {
	if f.status != statusOK {
		var text string
		_ = hessian.Codec.Decode(f.body, &text) // what cannot be read is left out
		return fmt.Errorf("the callback is answered with the status %d: %s", f.status, text)
	}
	answer, err := readReply(f.body)
	if err != nil {
		return fmt.Errorf("the answer of the callback cannot be read: %w", err)
	}
	if answer.exception != nil {
		return fmt.Errorf("the callback has thrown %s: %s", answer.exception.Class, answer.exception.Message)
	}
	return nil
}
