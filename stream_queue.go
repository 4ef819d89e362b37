package sabir

import (
	"sync/atomic"
	"unsafe"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/memory"
)

// streamWindowBytes is the number of bytes of values that may be under way in each direction of a stream before Send waits.
const streamWindowBytes = 256 << 10

// streamQueue carries the values of one direction of a stream within a process. It holds up to gateway.StreamWindow values, of
// streamWindowBytes together. One goroutine puts values in while another takes them out.
type streamQueue[T any] struct {
	values   chan queuedValue[T]
	window   *memory.Window
	measure  func(*T) int  // of what a value holds beside its own memory; nil for nothing
	measured T             // the value that is being measured, which so needs no place on the heap
	bytes    atomic.Int64  // of the values in the channel
	freed    chan struct{} // signals that bytes was lowered
}

type queuedValue[T any] struct {
	value T
	size  int // 0 for small ones, which are not counted
}

func newStreamQueue[T any](measure func(*T) int, account *memory.Account, end func()) streamQueue[T] {
	return streamQueue[T]{values: make(chan queuedValue[T], gateway.StreamWindow), measure: measure, window: account.Window(end), freed: make(chan struct{}, 1)}
}

// put puts a value in and waits for space. It is false where gone or ended was closed before; ended may be nil. The value counts
// while it waits for space too, since its sender has made it.
func (q *streamQueue[T]) put(value T, gone, ended <-chan struct{}) bool {
	size := int(unsafe.Sizeof(value))
	if q.measure != nil {
		q.measured = value
		size += q.measure(&q.measured)
		var none T
		q.measured = none
	}
	if size < memory.Small {
		return q.send(queuedValue[T]{value: value}, gone, ended)
	}
	q.window.Add(size)
	for before := q.bytes.Load(); before > 0 && before+int64(size) > streamWindowBytes; before = q.bytes.Load() {
		select {
		case <-q.freed:
		case <-gone:
			q.window.Remove(size)
			return false
		case <-ended:
			q.window.Remove(size)
			return false
		}
	}
	q.bytes.Add(int64(size))
	if !q.send(queuedValue[T]{value, size}, gone, ended) {
		q.bytes.Add(-int64(size))
		q.window.Remove(size)
		return false
	}
	return true
}

func (q *streamQueue[T]) send(v queuedValue[T], gone, ended <-chan struct{}) bool {
	select {
	case q.values <- v:
		return true
	case <-gone:
		return false
	case <-ended:
		return false
	}
}

// took is the value that was taken out.
func (q *streamQueue[T]) took(v queuedValue[T]) T {
	if v.size > 0 {
		q.bytes.Add(-int64(v.size))
		select {
		case q.freed <- struct{}{}:
		default:
		}
		q.window.Remove(v.size)
	}
	return v.value
}

// drop takes out all that is there.
func (q *streamQueue[T]) drop() {
	for {
		select {
		case v := <-q.values:
			q.took(v)
		default:
			return
		}
	}
}
