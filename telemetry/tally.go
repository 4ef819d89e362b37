package telemetry

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"go.opentelemetry.io/otel/attribute"

	"github.com/sabir-go/sabir"
)

// tally counts the calls of one action, or of one event handler. It is found once, when the action is composed, so that a call
// touches three counters and no map.
type tally struct {
	bounds     *bounds
	attributes []attribute.KeyValue
	all        attribute.Set // the attributes
	ok         attribute.Set // the attributes and the code OK
	codeKey    attribute.Key // of the code; "" where the convention has none
	shards     []shard
	shift      uint8

	failed [len(codeNames)]atomic.Pointer[failures] // by code
	mu     sync.Mutex
	errors map[errorKey]*errorCount
}

// shard is the part of a tally that one processor mostly writes to, so that processors do not contend for cache lines. Its size
// is a multiple of 64 bytes.
type shard struct {
	began   atomic.Uint64
	success histogram
	_       [48]byte
}

// failures are the calls that ended with one code.
type failures struct {
	attributes attribute.Set
	durations  histogram
}

type errorKey struct {
	code sabir.Code
	name string
}

type errorCount struct {
	attributes attribute.Set
	count      atomic.Uint64
}

// maxErrorNames bounds the names of errors that are counted apart for an action; further ones are counted as "other".
const maxErrorNames = 32

// other stands for the names beyond a limit.
const other = "other"

// codeNames are the codes that an error can have.
var codeNames = func() (names [sabir.CodeUnauthenticated + 1]string) {
	for code := range names {
		names[code] = sabir.Code(code).String()
	}
	return names
}()

// shardCount is a power of two: four shards for each processor, so that two seldom meet in one, and 32 at most. On two
// processors shards make calls of one action by both a third faster.
var shardCount = min(4<<bits.Len(uint(runtime.GOMAXPROCS(0)-1)), 32)

func newTally(b *bounds, codeKey attribute.Key, attributes ...attribute.KeyValue) *tally {
	t := &tally{bounds: b, attributes: attributes, codeKey: codeKey, errors: make(map[errorKey]*errorCount)}
	t.shards = make([]shard, shardCount)
	t.shift = uint8(64 - bits.Len(uint(shardCount-1)))
	t.all = attribute.NewSet(attributes...)
	t.ok = t.with(t.code(sabir.CodeOK)...)
	return t
}

// with is the set of the tally's attributes and more.
func (t *tally) with(more ...attribute.KeyValue) attribute.Set {
	return attribute.NewSet(append(slices.Clip(t.attributes), more...)...)
}

// code is the attributes for a code.
func (t *tally) code(c sabir.Code) (list []attribute.KeyValue) {
	if t.codeKey != "" {
		list = append(list, t.codeKey.String(codeNames[c]))
	}
	if c != sabir.CodeOK {
		list = append(list, errorTypeKey.String(codeNames[c]))
	}
	return list
}

// shard picks the shard for work that is represented by an object at p. The runtime keeps requests in pools, one for each
// processor, so the same processor comes back to the same shard.
func (t *tally) shard(p unsafe.Pointer) *shard {
	// Fibonacci hashing: the high bits of the product depend on all bits of the address.
	h := (uint64(uintptr(p)) >> 5) * 0x9E37_79B9_7F4A_7C15
	return &t.shards[h>>t.shift&uint64(len(t.shards)-1)]
}

// succeed counts work that ended well.
func (t *tally) succeed(s *shard, durations time.Duration) {
	s.success.record(t.bounds.bucket(durations), durations)
}

// fail counts work that ended with an error.
func (t *tally) fail(code sabir.Code, name string, durations time.Duration) {
	if int(code) >= len(t.failed) {
		code = sabir.CodeUnknown // a code from a newer node
	}
	f := t.failed[code].Load()
	if f == nil {
		t.failed[code].CompareAndSwap(nil, &failures{attributes: t.with(t.code(code)...)})
		f = t.failed[code].Load()
	}
	f.durations.record(t.bounds.bucket(durations), durations)
	t.errorCount(errorKey{code, name}).count.Add(1)
}

func (t *tally) errorCount(key errorKey) *errorCount {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.errors[key]
	if e == nil && len(t.errors) >= maxErrorNames {
		key.name = other // there are 16 codes, so this adds at most 16
		e = t.errors[key]
	}
	if e == nil {
		e = &errorCount{attributes: t.with(append(t.code(key.code), errorNameKey.String(key.name))...)}
		t.errors[key] = e
	}
	return e
}

// end counts work by what it returned.
func (t *tally) end(s *shard, err error, durations time.Duration) {
	if err == nil {
		t.succeed(s, durations)
		return
	}
	e := sabir.AsError(err)
	t.fail(e.Code, e.Name, durations)
}

// endPanicking counts work that did not return: a middleware panicked.
func (t *tally) endPanicking(durations time.Duration) {
	t.fail(sabir.ErrPanic.Code, sabir.ErrPanic.Name, durations)
}

// tallyReading is a snapshot of a tally.
type tallyReading struct {
	success reading
	ended   uint64
	active  int64
}

// read reads the shards. The ends are read before the beginnings, so that active is never below 0.
func (t *tally) read() (r tallyReading) {
	r.success = t.bounds.empty()
	for i := range t.shards {
		r.success.add(&t.shards[i].success)
	}
	r.ended = r.success.count
	for i := range t.failed {
		if f := t.failed[i].Load(); f != nil {
			for j := range f.durations.counts {
				r.ended += f.durations.counts[j].Load()
			}
		}
	}
	var began uint64
	for i := range t.shards {
		began += t.shards[i].began.Load()
	}
	r.active = int64(began - r.ended)
	return r
}
