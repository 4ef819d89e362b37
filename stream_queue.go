package sabir

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/memory"
)

// streamWindowBytes is the number of bytes of values that may be under way in each direction of a stream before Send waits.
const streamWindowBytes = 256 << 10

// streamQueue carries the values of one direction of a stream within a process, which are given by pointer. It holds up to
// admission.StreamWindow values, of streamWindowBytes together. One goroutine puts values in while others take them out.
type streamQueue interface {
	// put puts a value in and waits for space. It is false where gone or ended was closed before; ended may be nil.
	put(from any, gone, ended <-chan struct{}) bool
	// take waits for a value. It is false where gone or ended was closed before.
	take(to any, gone, ended <-chan struct{}) bool
	// takeWaiting takes a value that is there; false for none.
	takeWaiting(to any) bool
	// drop takes out all that is there.
	drop()
	// close says that nobody takes values out any more.
	close()
}

// valueQueue is a streamQueue for values of type T.
type valueQueue[T any] struct {
	values chan queuedValue[T]
	space  streamSpace
}

type queuedValue[T any] struct {
	value T
	size  int // 0 for small ones, which are not counted
}

func newStreamQueue[T any](account *memory.Account, end func()) streamQueue {
	q := &valueQueue[T]{values: make(chan queuedValue[T], admission.StreamWindow)}
	q.space.measure, q.space.window, q.space.freed = memory.SizerOf(reflect.TypeFor[T]()), account.Window(end), make(chan struct{}, 1)
	return q
}

func (q *valueQueue[T]) put(from any, gone, ended <-chan struct{}) bool {
	v := queuedValue[T]{value: *from.(*T)}
	var ok bool
	if v.size, ok = q.space.enter(from, int(unsafe.Sizeof(v.value)), gone, ended); !ok {
		return false
	}
	select {
	case q.values <- v:
		return true
	case <-gone:
	case <-ended:
	}
	q.space.leave(v.size)
	return false
}

func (q *valueQueue[T]) take(to any, gone, ended <-chan struct{}) bool {
	select {
	case v := <-q.values:
		q.took(v, to)
		return true
	case <-gone:
	case <-ended:
	}
	return false
}

func (q *valueQueue[T]) takeWaiting(to any) bool {
	select {
	case v := <-q.values:
		q.took(v, to)
		return true
	default:
		return false
	}
}

func (q *valueQueue[T]) took(v queuedValue[T], to any) {
	*to.(*T) = v.value
	q.space.leave(v.size)
}

func (q *valueQueue[T]) drop() {
	for dropped := new(T); q.takeWaiting(dropped); {
	}
}

func (q *valueQueue[T]) close() { q.space.window.Close() }

// streamSpace counts the bytes of the values in a streamQueue.
type streamSpace struct {
	window  *memory.Window
	measure func(any) int // of what a value holds beside its own memory; nil for nothing
	bytes   atomic.Int64  // of the values in the queue
	freed   chan struct{} // signals that bytes was lowered
}

// enter waits for space for a value, of which own bytes are its own memory, and returns its size. It is false where gone or ended was
// closed before. The value counts while it waits too, since its sender has made it.
func (s *streamSpace) enter(value any, own int, gone, ended <-chan struct{}) (size int, ok bool) {
	if size = own; s.measure != nil {
		size += s.measure(value)
	}
	if size < memory.Small {
		return 0, true
	}
	s.window.Add(size)
	for before := s.bytes.Load(); before > 0 && before+int64(size) > streamWindowBytes; before = s.bytes.Load() {
		select {
		case <-s.freed:
			continue
		case <-gone:
		case <-ended:
		}
		s.window.Remove(size)
		return 0, false
	}
	s.bytes.Add(int64(size))
	return size, true
}

// leave gives back the space of a value that was taken out, or not put in.
func (s *streamSpace) leave(size int) {
	if size == 0 {
		return
	}
	s.bytes.Add(-int64(size))
	select {
	case s.freed <- struct{}{}:
	default:
	}
	s.window.Remove(size)
}
