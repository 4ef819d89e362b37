package sabir

import (
	"context"
	"io"
	"testing"
)

func TestSendOnAStreamThatHasJustEndedIsTheEndAndNoCancellation(t *testing.T) {
	h := &streamHandler{op: newOperation(NewNode(), "s", "s.stream")}
	for range 20_000 {
		p := &pipe{handler: h, up: &valueQueue[int]{values: make(chan queuedValue[int])}, upDone: make(chan struct{}), ended: make(chan struct{})}
		p.ctx, p.cancel = context.WithCancel(context.Background())
		go func() { // as openStream does when the handler has returned
			close(p.ended)
			p.cancel()
		}()
		if err := p.callerSend(new(int)); err != io.EOF {
			t.Fatalf("got %v", err)
		}
	}
}
