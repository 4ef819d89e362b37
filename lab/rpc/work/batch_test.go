package work

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/message"
)

// echoing answers each batch on a goroutine, after change has had its way with the reply.
func echoing(t *testing.T, change func(reply []byte) []byte) *Client {
	requests := make(chan []byte, 100)
	t.Cleanup(func() { close(requests) })
	return &Client{Batch: func(messages int, deliver func([]byte)) (func([]byte) error, error) {
		go func() {
			for request := range requests {
				deliver(change(AnswerBatch(nil, request)))
			}
		}()
		return func(request []byte) error {
			requests <- append([]byte(nil), request...)
			return nil
		}, nil
	}}
}

func TestABatchCountsAsItsMessages(t *testing.T) {
	for callers, want := range map[int]struct{ messages, underWay int }{1: {1, 1}, 10: {10, 1}, 100: {25, 4}, 1000: {25, 40}} {
		b, err := newBatches(echoing(t, func(reply []byte) []byte { return reply }), callers)
		if err != nil {
			t.Fatal(err)
		}
		if b.messages != want.messages || cap(b.free) != want.underWay || len(b.request) != want.messages*message.RequestBytes {
			t.Errorf("%d callers: %d messages a batch and %d batches under way, want %+v", callers, b.messages, cap(b.free), want)
		}
		for range 2 {
			s, err := b.measure(5 * time.Millisecond)
			if err != nil || s.Wrong != 0 || s.Operations == 0 || s.Operations%int64(want.messages) != 0 || len(s.Latencies) == 0 {
				t.Errorf("%d callers: %+v, %v", callers, s, err)
			}
		}
	}
}

func TestWrongBatchesAreNoticed(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"too short": func(reply []byte) []byte { return reply[:len(reply)-1] },
		"another's": func(reply []byte) []byte {
			binary.LittleEndian.PutUint64(reply, 7_000_000)
			return reply
		},
	} {
		b, err := newBatches(echoing(t, change), 100)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := b.measure(50 * time.Millisecond); err != nil || s.Wrong != 1 || !strings.Contains(s.Problem, "want") {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}
