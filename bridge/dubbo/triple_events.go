package dubbo

import (
	"io"
	"net/http"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
)

// serveEvents answers with a stream of answers as server-sent events, each of which is a value in JSON.
func (c *tripleCall) serveEvents(action *sabir.Action, format codec.Codec, input []byte) error {
	ctx, end, stream, err := c.open(action, format)
	if err != nil {
		return err
	}
	defer end(nil)
	defer stream.Close()
	if err := stream.Send(input); err != nil && err != io.EOF {
		return unreadable(err)
	}
	stream.CloseSend()
	for {
		value, err := stream.Recv()
		if err == io.EOF {
			c.beginEvents(http.StatusOK)
			return nil
		}
		if err == nil && len(value) > maxBody {
			err = sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrMessageTooLarge.Name, "a value of %s has %d bytes: %d is the limit of Triple", c.inv.method, len(value), maxBody)
		}
		if err != nil {
			return endedBy(ctx, err)
		}
		c.beginEvents(http.StatusOK)
		if c.writeEvent(value) != nil {
			return errGone
		}
	}
}

// beginEvents writes the head of a stream of events.
func (c *tripleCall) beginEvents(status int) {
	if c.wrote {
		return
	}
	c.wrote = true
	c.w.Header().Set("Content-Type", eventStream)
	c.w.Header().Set("Cache-Control", "no-cache")
	c.w.WriteHeader(status)
	_ = c.control.Flush() // an error means that the caller is gone
}

// writeEvent sends an event. Its error means that the caller is gone, or does not read.
func (c *tripleCall) writeEvent(data []byte) error {
	c.control.SetWriteDeadline(time.Now().Add(bodyLimit))
	defer c.control.SetWriteDeadline(time.Time{})
	if _, err := c.w.Write(append(append([]byte("data:"), data...), "\n\n"...)); err != nil {
		return err
	}
	return c.control.Flush()
}

const eventStream = "text/event-stream"
