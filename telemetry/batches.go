package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// batches collects ended spans and gives them to the exporter, many at a time, from one goroutine. It replaces the SDK's batch
// processor: a span costs an append instead of a channel and a wake-up, and every lost span is counted.
type batches struct {
	exporter sdktrace.SpanExporter
	limit    int
	since    time.Time
	log      func() *slog.Logger

	mu      sync.Mutex
	pending []sdktrace.ReadOnlySpan
	busy    int // spans that the exporter has now
	closed  bool
	running bool // the goroutine
	tally   SpanCounts

	spare    []sdktrace.ReadOnlySpan // the goroutine's: an empty slice to swap with pending
	wake     chan struct{}           // of capacity 1
	flush    chan chan error
	stop     chan struct{}
	ended    chan struct{}
	err      error // of the end; read after ended
	work     context.Context
	cancel   context.CancelCauseFunc
	warned   time.Time
	reported uint64 // losses logged so far
	unlogged error  // of the last of those that were not logged
}

// SpanCounts counts the spans of Traces by their fate. Ended is the sum of the others and of those still in the queue.
type SpanCounts struct {
	Ended     uint64 // sampled spans that ended
	Exported  uint64 // the exporter took them
	Failed    uint64 // the exporter returned an error for their batch, or the collector refused them alone
	QueueFull uint64 // dropped because the exporter was too slow
	Late      uint64 // dropped because they ended after Shutdown
}

// Dropped returns how many spans were lost.
func (c SpanCounts) Dropped() uint64 { return c.Failed + c.QueueFull + c.Late }

const (
	batchSize     = 512              // spans given to the exporter at once, at most
	batchDelay    = time.Second      // how long a span waits, at most, for others
	exportTimeout = 30 * time.Second // for one batch
	warnInterval  = 10 * time.Second // between two lines in the log
)

func newBatches(exporter sdktrace.SpanExporter, limit int, log func() *slog.Logger) *batches {
	b := &batches{exporter: exporter, limit: limit, since: time.Now(), log: log,
		wake: make(chan struct{}, 1), flush: make(chan chan error), stop: make(chan struct{}), ended: make(chan struct{})}
	b.work, b.cancel = context.WithCancelCause(context.Background())
	return b
}

// begin starts the goroutine, with the first span: a Telemetry whose node never starts has none. It runs under mu.
func (b *batches) begin() {
	if !b.running {
		b.running = true
		go b.run()
	}
}

// OnStart implements sdktrace.SpanProcessor.
func (b *batches) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements sdktrace.SpanProcessor.
func (b *batches) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	waiting := 0
	b.mu.Lock()
	b.tally.Ended++
	switch {
	case b.closed:
		b.tally.Late++
	case len(b.pending)+b.busy >= b.limit:
		b.tally.QueueFull++
	default:
		b.pending = append(b.pending, s)
		waiting = len(b.pending)
		b.begin()
	}
	b.mu.Unlock()
	if waiting%batchSize != 0 || waiting == 0 {
		return
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
	if waiting >= b.limit/4 {
		// The exporter is behind, perhaps only because it was given no processor yet: it gets this one.
		runtime.Gosched()
	}
}

func (b *batches) counts() SpanCounts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tally
}

func (b *batches) run() {
	defer close(b.ended)
	tick := time.NewTicker(batchDelay)
	defer tick.Stop()
	for {
		select {
		case <-b.wake:
			b.export()
		case <-tick.C:
			b.export()
		case done := <-b.flush:
			done <- b.export()
		case <-b.stop:
			b.warned = time.Time{} // the last report is not held back
			b.err = errors.Join(b.export(), b.isolated("its shutdown", func() error { return b.exporter.Shutdown(b.work) }))
			b.cancel(nil)
			return
		}
	}
}

// export gives all that is pending to the exporter.
func (b *batches) export() error {
	b.mu.Lock()
	taken := b.pending
	b.pending, b.busy = b.spare[:0], len(taken)
	b.mu.Unlock()
	var errs []error
	for rest := taken; len(rest) > 0; {
		batch := rest[:min(batchSize, len(rest))]
		rest = rest[len(batch):]
		err := b.exportOne(batch)
		lost := min(lostOf(err, len(batch)), len(batch))
		b.mu.Lock()
		b.busy -= len(batch)
		b.tally.Exported += uint64(len(batch) - lost)
		b.tally.Failed += uint64(lost)
		b.mu.Unlock()
		if err != nil {
			errs = append(errs, fmt.Errorf("telemetry: %d of %d spans lost: %w", lost, len(batch), err))
		}
	}
	clear(taken)
	b.spare = taken
	b.warn(errors.Join(errs...))
	return errors.Join(errs...)
}

// lostOf returns how many spans of a batch an exporter's error says are lost: all, unless it consists of partial successes of OTLP, by
// which a collector has taken the others, and perhaps all of them with a warning. Each exporter of OTLP has an error type of its own for
// them, which only its package can name, so that the number is read from the field that all have.
func lostOf(err error, batch int) int {
	if err == nil {
		return 0
	}
	if inner := errors.Unwrap(err); inner != nil {
		return lostOf(inner, batch)
	}
	if e, ok := err.(interface{ Unwrap() []error }); ok {
		lost := 0
		for _, one := range e.Unwrap() {
			lost += lostOf(one, batch)
		}
		return lost
	}
	if v := reflect.ValueOf(err); v.Kind() == reflect.Struct && v.Type().Name() == "PartialSuccess" {
		if rejected := v.FieldByName("RejectedItems"); rejected.IsValid() && rejected.CanInt() {
			return int(max(rejected.Int(), 0))
		}
	}
	return batch
}

func (b *batches) exportOne(batch []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithTimeout(b.work, exportTimeout)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	return b.isolated("an export", func() error { return b.exporter.ExportSpans(ctx, batch) })
}

func (b *batches) isolated(what string, do func() error) error {
	return isolated(b.log(), "the span exporter, in "+what, do)
}

// isolated runs code of an exporter on a goroutine that it may end, logs a panic and makes an error of it.
func isolated(log *slog.Logger, who string, do func() error) error {
	done := make(chan error, 1)
	go func() {
		var err error
		returned := false
		defer func() {
			if !returned {
				if v := recover(); v != nil {
					err = fmt.Errorf("%s, panicked: %v", who, v)
				} else {
					err = fmt.Errorf("%s, ended its goroutine", who)
				}
				defer func() { _ = recover() }() // of the log, which cannot report it
				defer func() { done <- err }()
				log.Error("panic", "error", err, "stack", string(debug.Stack()))
				return
			}
			done <- err
		}()
		err = do()
		returned = true
	}()
	return <-done
}

// warn logs losses, a line every 10 seconds at most.
func (b *batches) warn(err error) {
	if err != nil {
		b.unlogged = err
	}
	c := b.counts()
	if c.Dropped() == b.reported || time.Since(b.warned) < warnInterval {
		return
	}
	defer func() { _ = recover() }() // of the program's own log; this goroutine has spans to export
	lost := c.Dropped() - b.reported
	b.reported, b.warned = c.Dropped(), time.Now()
	b.log().Warn("spans lost", "lost", lost, "queue_full", c.QueueFull, "export_failed", c.Failed, "late", c.Late, "error", b.unlogged)
	b.unlogged = nil
}

// ForceFlush implements sdktrace.SpanProcessor: it returns when all spans that ended before it are exported.
func (b *batches) ForceFlush(ctx context.Context) error {
	b.mu.Lock()
	running := b.running
	b.mu.Unlock()
	if !running {
		return nil
	}
	done := make(chan error, 1)
	select {
	case b.flush <- done:
	case <-b.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Shutdown implements sdktrace.SpanProcessor: it exports the pending spans and shuts the exporter down. When the context
// ends first, the remaining spans are lost, and the error reports how many.
func (b *batches) Shutdown(ctx context.Context) error {
	b.mu.Lock()
	first := !b.closed
	b.closed = true
	b.begin() // it shuts the exporter down
	b.mu.Unlock()
	if first {
		close(b.stop)
	}
	select {
	case <-b.ended:
		if first {
			return b.err
		}
		return nil
	case <-ctx.Done():
	}
	b.cancel(context.Cause(ctx))
	b.mu.Lock()
	left := len(b.pending) + b.busy
	b.mu.Unlock()
	return fmt.Errorf("telemetry: the exporter did not take the last %d spans in time: %w", left, ctx.Err())
}
