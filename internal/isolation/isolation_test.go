// Package isolation_test shows that no value ends a process, wherever it goes in or out.
//
// An entry point is a way of values into or out of a process: the input of a call over a link, the answer of an action over HTTP, a
// message to a process on another node. At each of them code of the value's own type runs (MarshalText, UnmarshalText,
// Validate), and whatever it does must stay with that one value. The table of entry points by faults is [table]: each entry point is put
// through each fault, and must state the reason where a fault cannot happen there.
package isolation_test

import (
	"context"
	"encoding"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/brokers"
	_ "github.com/sabir-go/sabir/validate/playground" // rules of the library
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

// A fault is the misbehaviour of a value's own code at an entry point, or a defect of the value itself.
type fault string

const (
	panicsWritten fault = "panics when it is written"
	panicsRead    fault = "panics when it is read"
	panicsChecked fault = "panics when it is validated"
	exitsWritten  fault = "ends its goroutine when it is written"
	exitsRead     fault = "ends its goroutine when it is read"
	exitsChecked  fault = "ends its goroutine when it is validated"
	nestsTooDeep  fault = "nests too deep"
)

var faults = []fault{panicsWritten, panicsRead, panicsChecked, exitsWritten, exitsRead, exitsChecked, nestsTooDeep}

// secret is the value of each panic. It may be in the log of the process where the panic was and nowhere else.
const secret = "the password is swordfish"

// Payload is a value whose own code has the fault that it names.
type Payload struct {
	Text Text     `json:"word" validate:"validateFn"`
	Next *Payload `json:"next,omitempty"`
}

// Text is a text whose methods have a fault where the text names one.
type Text string

var (
	_ encoding.TextMarshaler   = Text("")
	_ encoding.TextUnmarshaler = (*Text)(nil)
)

func (w Text) misbehave(panics, exits fault) {
	switch fault(w) {
	case panics:
		panic(secret)
	case exits:
		runtime.Goexit()
	}
}

// MarshalText is called by each codec that writes a Word.
func (w Text) MarshalText() ([]byte, error) {
	w.misbehave(panicsWritten, exitsWritten)
	return []byte(w), nil
}

// UnmarshalText is called by each codec that reads a Word.
func (w *Text) UnmarshalText(text []byte) error {
	Text(text).misbehave(panicsRead, exitsRead)
	*w = Text(text)
	return nil
}

// Validate is called where inputs are validated, by the rule validateFn.
func (w Text) Validate() error {
	w.misbehave(panicsChecked, exitsChecked)
	return nil
}

// good is a value without a fault.
func good() Payload { return Payload{Text: "good"} }

// maxNesting is deeper than any codec goes.
const maxNesting = 20_000

// with is a value that has the fault.
func with(f fault) Payload {
	if f != nestsTooDeep {
		return Payload{Text: Text(f)}
	}
	p := good()
	for range maxNesting {
		next := p
		p = Payload{Text: "good", Next: &next}
	}
	return p
}

// An entry point is a row of the table.
type entryPoint struct {
	name string
	// open starts what the entry point needs, with log as the logger of each node in it, and returns the way through: it sends a
	// value and returns the error that the sender gets. What it started ends with the test.
	open func(t *testing.T, log *slog.Logger) (through func(context.Context, Payload) error)
	// silent is the reason why the sender gets no error of a fault, for each fault where that is so: an emitter does not wait
	// for listeners.
	silent map[fault]string
	// cannot is the reason why a fault cannot happen at this entry point.
	cannot map[fault]string
}

// TestAFaultyValueFailsOnlyItsOwnOperation puts each entry point through each fault. After it, in the same process and over the
// same link or connection, the next value goes through.
func TestAFaultyValueFailsOnlyItsOwnOperation(t *testing.T) {
	brokers.Slow(t)
	for _, d := range table() {
		t.Run(d.name, func(t *testing.T) {
			for _, f := range faults {
				if d.cannot[f] != "" {
					continue
				}
				t.Run(string(f), func(t *testing.T) { d.survives(t, f) })
			}
		})
	}
}

func (d entryPoint) survives(t *testing.T, f fault) {
	limited := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		t.Cleanup(cancel)
		return ctx
	}
	log := &record{}
	through := d.open(t, slog.New(slog.NewTextHandler(log, nil)))
	if err := through(limited(), good()); err != nil {
		t.Fatalf("a good value before the fault: %v", err)
	}
	err := through(limited(), with(f))
	switch {
	case err == nil && d.silent[f] == "":
		t.Error("the sender got no error")
	case errors.Is(err, context.DeadlineExceeded):
		t.Errorf("the sender waited in vain: %v", err)
	case err != nil && strings.Contains(err.Error(), secret):
		t.Errorf("the sender learns what the panic said: %v", err)
	}
	if strings.HasPrefix(string(f), "panics") {
		if ctx := limited(); !log.eventually(ctx, secret) || !log.eventually(ctx, "isolation_test.Text.misbehave") {
			t.Errorf("the log has no stack of the panic; it has:\n%s", log)
		}
	}
	if err := through(limited(), good()); err != nil {
		t.Errorf("a good value after the fault: %v", err)
	}
}

// TestEachEntryPointHasAnOutcomeForEachFault holds the table: no name twice, no reason without a fault.
func TestEachEntryPointHasAnOutcomeForEachFault(t *testing.T) {
	names := map[string]bool{}
	for _, d := range table() {
		if names[d.name] {
			t.Errorf("%s stands twice in the table", d.name)
		}
		names[d.name] = true
		for _, reasons := range []map[fault]string{d.silent, d.cannot} {
			for f, why := range reasons {
				if !slices.Contains(faults, f) || why == "" {
					t.Errorf("%s: %q has the reason %q", d.name, f, why)
				}
			}
		}
	}
}

// record is a log that tests can look into.
type record struct {
	mu    sync.Mutex
	lines strings.Builder
	grown chan struct{}
}

// Write takes the lines of a handler of slog.
func (r *record) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines.Write(text)
	if r.grown != nil {
		close(r.grown)
		r.grown = nil
	}
	return len(text), nil
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.String()
}

// eventually reports whether the log has the text before ctx ends.
func (r *record) eventually(ctx context.Context, text string) bool {
	for {
		r.mu.Lock()
		found := strings.Contains(r.lines.String(), text)
		if r.grown == nil {
			r.grown = make(chan struct{})
		}
		grown := r.grown
		r.mu.Unlock()
		if found {
			return true
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return false
		}
	}
}
