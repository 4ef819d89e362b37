package grain

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/internal/grainstore"
)

// Kind is a kind of grains: a name and a type that does what they do. S is the type, which embeds State. Make it with Define,
// usually as a package variable; it does not change.
type Kind[S any] struct{ k kind }

// kind is a Kind without types.
type kind struct {
	name     string
	keeps    bool // it has a state
	calls    []reflect.Type
	messages []reflect.Type
	hosts    []hosted
	zero     func(stateful)
	spawn    func(*activation) (actor.PID, error)
}

// hosted is a handler of the process that takes what other nodes send: one for each type, whatever kinds take it.
type hosted struct {
	of      reflect.Type
	calls   bool
	handler actor.Handler[host]
}

// Handler is returned by OnMessage and OnCall, for Define.
type Handler[S any] struct {
	in     reflect.Type
	calls  bool
	strong *bool // of a handler of calls: see Strong
	own    []actor.Handler[S]
	hosts  []hosted
}

// Define makes a kind of grains. The name is the same on all nodes: words of a-z, 0-9 and '-', joined by dots, up to 128 bytes.
// A name that is not one, a type that does not embed State, and two handlers for one type of messages, or of calls, are
// mistakes in the program: Define panics.
func Define[S any](name string, handlers ...Handler[S]) *Kind[S] {
	if err := grainstore.CheckName(name, "any"); err != nil {
		panic(fmt.Sprintf("grain: %v", err))
	}
	s, ok := any(new(S)).(stateful)
	if !ok {
		panic(fmt.Sprintf("grain: %s, the type of kind %s, does not embed grain.State", reflect.TypeFor[S](), name))
	}
	k := &Kind[S]{kind{name: name, keeps: s.persistent()}}
	own := []actor.Handler[S]{
		actor.OnMessage(func(s *S, p *actor.Process, _ restIdle) error { the(s).rest(asStateful(s), p); return nil }),
		actor.OnMessage(func(s *S, p *actor.Process, _ evict) error { the(s).leave(asStateful(s), p); return nil }),
		actor.OnMessage(func(s *S, p *actor.Process, _ closeNow) error { the(s).done(asStateful(s), p, false); return nil }),
		actor.OnMessage(func(s *S, p *actor.Process, e actor.Exit) error {
			if e.Reason != error(actor.ErrNormal) {
				the(s).leave(asStateful(s), p)
			}
			return nil
		}),
	}
	// A call that nobody waits for any more counted in pins all the same: the grain would wait for it when it moves or stops.
	own = append(own, actor.OnCanceledCall(func(s *S, p *actor.Process, in any) {
		_, pinned := in.(interface{ counts() })
		the(s).done(asStateful(s), p, pinned)
	}))
	for _, h := range handlers {
		types := &k.k.messages
		if h.calls {
			types = &k.k.calls
		}
		if slices.Contains(*types, h.in) {
			panic(fmt.Sprintf("grain: kind %s has two handlers for %s", name, h.in))
		}
		*types = append(*types, h.in)
		k.k.hosts = append(k.k.hosts, h.hosts...)
		own = append(own, h.own...)
	}
	behavior := actor.Define("grain/"+name, func(s *S, _ *actor.Process, a *activation) error {
		asStateful(s).attach(a)
		return nil
	}, own...)
	k.k.zero = func(s stateful) { *any(s).(*S) = *new(S) }
	k.k.spawn = func(a *activation) (actor.PID, error) {
		return behavior.Spec(a, actor.SpawnConfig{Mailbox: coreMailbox}).Start(a.grains.system)
	}
	return k
}

// coreMailbox is more than pins let in.
const coreMailbox = 1 << 30

func asStateful[S any](s *S) stateful { return any(s).(stateful) }

func the[S any](s *S) *activation { return any(s).(stateful).activated() }

// Name is the kind's name.
func (k *Kind[S]) Name() string { return k.k.name }

// Key is the address of one grain of the kind. A key is any string of 1 byte to 1 KiB: calls of a
// grain with another one fail with BadGrainName.
func (k *Kind[S]) Key(key string) Address { return Address{k.k.name, key} }

func (k *Kind[S]) served() *kind { return &k.k }

// Served is a Kind, for Serve.
type Served interface{ served() *kind }

// grainMessage wraps a message or call to a grain in its mailbox. While it is there, it counts in pins.
type grainMessage[In any] struct {
	in   In
	hops uint8
}

func (grainMessage[In]) counts() {}

// Strong lets a handler of calls answer only when the store has confirmed that no other activation has saved since this one
// loaded or saved: else the caller gets store.ErrFenced, and the next call a state that is new. It costs a Load for each call
// that does not save.
//
//	grain.OnCall((*ledger).Total).Strong()
//
// A handler of messages has no answer to hold back: Strong panics.
func (h Handler[S]) Strong() Handler[S] {
	if h.strong == nil {
		panic("grain: Strong is for handlers of calls, and this one takes messages of type " + h.in.String())
	}
	*h.strong = true
	return h
}

// OnCall handles calls, as actor.OnCall does: what it returns is the caller's answer. A handler that returns actor.ErrNoReply
// answers by actor.Reply; the grain may rest or move before that, and then the caller waits in vain.
func OnCall[S, In, Out any](fn func(*S, *actor.Process, In) (Out, error)) Handler[S] {
	strong := new(bool)
	answer := func(s *S, p *actor.Process, in In, pinned bool) (out Out, err error) {
		st := asStateful(s)
		a := st.activated()
		err = a.turn(st, p, func() (err error) {
			if out, err = fn(s, p, in); *strong && err == nil {
				err = a.confirm()
			}
			return err
		})
		if err != nil {
			out = *new(Out)
		}
		a.done(st, p, pinned)
		return out, err
	}
	in := reflect.TypeFor[In]()
	return Handler[S]{
		in:     in,
		calls:  true,
		strong: strong,
		own: []actor.Handler[S]{
			actor.OnCall(func(s *S, p *actor.Process, v grainMessage[In]) (Out, error) { return answer(s, p, v.in, true) }),
			actor.OnCall(func(s *S, p *actor.Process, in In) (Out, error) { return answer(s, p, in, false) }),
		},
		hosts: []hosted{{reflect.TypeFor[routed[In]](), true, actor.OnCall(hostCall[In])}},
	}
}

// OnMessage handles messages. An error that it returns, as a panic, makes the grain forget its state and load it again for the next
// message; it is logged.
func OnMessage[S, M any](fn func(*S, *actor.Process, M) error) Handler[S] {
	on := func(s *S, p *actor.Process, m M) error {
		st := asStateful(s)
		a := st.activated()
		refused := a.failure
		err := a.turn(st, p, func() error {
			err := fn(s, p, m)
			if err != nil {
				a.spoil(err)
			}
			return err
		})
		if err != nil && refused == nil && a.failure == nil {
			p.Log().Warn("a message to a grain has failed", "grain", a.address.String(), "error", err)
		}
		return err
	}
	pinned := func(s *S, p *actor.Process, v grainMessage[M]) error {
		st := asStateful(s)
		a := st.activated()
		waited := a.failure != nil
		if err := on(s, p, v.in); err != nil && moved(err) && waited {
			reroute(a.grains, routed[M]{Kind: a.address.Kind, Key: a.address.Key, Hops: v.hops, Message: v.in}, err)
		} else if err != nil && a.failure != nil && !moved(err) {
			a.grains.discard(a.address, err)
		}
		a.done(st, p, true)
		return nil
	}
	direct := func(s *S, p *actor.Process, m M) error {
		_ = on(s, p, m) // it is logged
		st := asStateful(s)
		st.activated().done(st, p, false)
		return nil
	}
	in := reflect.TypeFor[M]()
	return Handler[S]{
		in:  in,
		own: []actor.Handler[S]{actor.OnMessage(pinned), actor.OnMessage(direct)},
		hosts: []hosted{
			{reflect.TypeFor[routed[M]](), false, actor.OnMessage(hostMessage[M])},
			{reflect.TypeFor[important[M]](), true, actor.OnCall(hostImportant[M])},
		},
	}
}
