package main

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/message"
)

// echoing answers each batch on a goroutine, after change has had its way with the reply.
func echoing(t *testing.T, change func(reply []byte) []byte) *client {
	requests := make(chan []byte, 100)
	t.Cleanup(func() { close(requests) })
	return &client{batch: func(messages int, deliver func([]byte)) (func([]byte) error, error) {
		go func() {
			for request := range requests {
				deliver(change(answerBatch(nil, request)))
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
		l := load{Callers: callers, Duration: 5 * time.Millisecond}
		c := echoing(t, func(reply []byte) []byte { return reply })
		b, err := l.newBatches(c)
		if err != nil {
			t.Fatal(err)
		}
		if b.messages != want.messages || cap(b.free) != want.underWay || len(b.request) != want.messages*message.RequestBytes {
			t.Errorf("%d callers: %d messages a batch and %d batches under way, want %+v", callers, b.messages, cap(b.free), want)
		}
		measure, err := l.prepareBatches(echoing(t, func(reply []byte) []byte { return reply }))
		if err != nil {
			t.Fatal(err)
		}
		result, err := measure()
		if err != nil || result.Errors != 0 || result.Calls == 0 || result.Calls%int64(want.messages) != 0 || result.P50 <= 0 {
			t.Errorf("%d callers: %+v, %v", callers, result, err)
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
		l := load{Callers: 100, Warmup: 50 * time.Millisecond}
		if _, err := l.prepareBatches(echoing(t, change)); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
