package grain

import (
	"context"
	"errors"
	"reflect"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/codec"
)

// State holds the saved state of a grain: embed it in the grain's type. A grain that keeps nothing embeds State[struct{}] and
// needs no store. It is used in the grain's callbacks only.
type State[T any] struct {
	// Value is the grain's own. It is the zero T where nothing was saved yet.
	Value T

	a *activation
}

// stateful is a pointer to a type that embeds a State.
type stateful interface {
	attach(*activation)
	activated() *activation
	persistent() bool
	read(data []byte) error // an error of the store's bytes, or of what the state's type makes of them
}

func (s *State[T]) attach(a *activation)   { s.a = a }
func (s *State[T]) activated() *activation { return s.a }
func (s *State[T]) persistent() bool       { return reflect.TypeFor[T]() != reflect.TypeFor[struct{}]() }

func (s *State[T]) read(data []byte) error {
	return decodeState(data, &s.Value)
}

// Address is the grain's own.
func (s *State[T]) Address() Address { return s.a.address }

// Saved reports whether there is something in the store, as far as is known to this activation.
func (s *State[T]) Saved() bool { return s.a.revision != 0 }

// Save keeps the value, and returns when the store has it. Where it fails nothing of this grain's memory is kept, see the
// package's documentation: the handler should return the error, and its caller gets it in any case.
func (s *State[T]) Save(p *actor.Process) error {
	a := s.a
	data, err := encodeState(nil, a.grains.form, &s.Value)
	if err != nil {
		return a.spoil(a.badState(p, err))
	}
	return a.write(func(ctx context.Context, st store.Store) (uint64, error) {
		return st.Save(ctx, a.address.Kind, a.address.Key, data, a.revision)
	})
}

// Delete removes the saved state. The value stays as it is, and Save would keep it again.
func (s *State[T]) Delete(*actor.Process) error {
	a := s.a
	return a.write(func(ctx context.Context, st store.Store) (uint64, error) {
		return 0, st.Delete(ctx, a.address.Kind, a.address.Key, a.revision)
	})
}

// Rest lets the grain rest as soon as no message waits for it.
func (s *State[T]) Rest(*actor.Process) { s.a.resting = true }

// Terminate is called by the runtime when the process ends. A handler that wants an end calls Rest; one that calls
// Process.Stop instead loses what waits for the grain, and Deactivate does not run.
func (s *State[T]) Terminate(*actor.Process, error) {
	if a := s.a; a != nil && !a.ended {
		a.ended = true
		a.close(errGrainMoved)
		a.grains.directory.gone(a)
	}
}

// write changes what is in the store, unless a write has failed since the state was loaded.
func (a *activation) write(do func(context.Context, store.Store) (uint64, error)) error {
	if a.spoiled != nil {
		return a.spoiled
	}
	if a.grains.store == nil {
		return a.spoil(problem(errBadGrainState, a.grains.self, "%s: the grains were made without a Store", a.address))
	}
	revision, err := do(a.grains.base, a.grains.store)
	if err != nil {
		return a.spoil(writeError(err, a))
	}
	a.revision, a.wrote = revision, true
	return nil
}

// writeError is the error that callers get for a write that has failed.
func writeError(err error, a *activation) error {
	switch {
	case errors.Is(err, store.ErrOutcomeUnknown):
		return problem(errOutcomeUnknown, a.grains.self, "saving %s: %w", a.address, err)
	case errors.Is(err, store.ErrFenced):
		a.grains.counts.fenced.Add(1)
		e := sabir.Errorf(store.ErrFenced.Code, store.ErrFenced.Name, "saving %s: %w", a.address, err)
		e.Node, e.Retryable = a.grains.self, true
		return e
	}
	return err
}

// badState is the error of a state that cannot be written or read. The text of a panic in the state's own code is logged here
// and sent nowhere else.
func (a *activation) badState(p *actor.Process, err error) error {
	if panicked, ok := errors.AsType[*codec.PanicError](err); ok {
		a.logPanic(p, "the state", panicked.Value, panicked.Stack)
		return problem(sabir.ErrPanic, a.grains.self, "the state of grain %s", a.address)
	}
	return problem(errBadGrainState, a.grains.self, "%s: %w", a.address, err)
}

// spoil records that the state in memory is not to be used any more.
func (a *activation) spoil(err error) error {
	if a.spoiled == nil {
		a.spoiled = err
	}
	return err
}

// load reads the state, and runs Activate.
func (a *activation) load(s stateful, p *actor.Process) error {
	if st := a.grains.store; st != nil && s.persistent() {
		entry, err := st.Load(a.grains.base, a.address.Kind, a.address.Key)
		if err != nil {
			return err
		}
		if a.revision = entry.Revision; entry.Revision != 0 {
			if err := s.read(entry.State); err != nil {
				return a.badState(p, err)
			}
		}
	}
	if h, ok := s.(interface{ Activate(*actor.Process) error }); ok {
		if err := a.guard(p, "Activate", func() error { return h.Activate(p) }); err != nil {
			return err
		}
	}
	a.grains.counts.loaded.Add(1)
	return a.spoiled
}

// confirm asks the store whether the state is still the one that was loaded or saved here.
func (a *activation) confirm() error {
	st := a.grains.store
	if st == nil || a.wrote || a.spoiled != nil {
		return nil // the write has reported it
	}
	entry, err := st.Load(a.grains.base, a.address.Kind, a.address.Key)
	if err == nil && entry.Revision != a.revision {
		err = writeError(store.ErrFenced, a)
	}
	if err != nil {
		return a.spoil(err)
	}
	return nil
}
