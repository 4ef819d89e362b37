package grain

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// withoutDeadline bounds the time that senders wait without a deadline, as package actor does.
const withoutDeadline = 5 * time.Second

// Call asks a grain and waits for its answer, wherever it is; it is activated if need be:
//
//	n, err := grain.Call[int](ctx, system, users.Key("ada"), Visit{})
//
// It waits until ctx ends, or for 5 s where ctx has no deadline. The error is the handler's own, one of this
// package, or one of actor.Call. The call is handled at most once. A retryable error means that nothing was saved,
// as a [store.ErrFenced] is where the handler had not saved before, or that nothing was done at all; after [store.ErrOutcomeUnknown], actor.ErrCallTimeout and the end of ctx it may have been.
func Call[Out, In any](ctx context.Context, from actor.Sender, to Address, in In) (Out, error) {
	g, err := of(from)
	if err != nil {
		var zero Out
		return zero, err
	}
	if a := g.directory.find(to); a != nil {
		out, err := callHere[Out](ctx, g, from, a, in)
		if err == nil || !moved(err) {
			return out, timeOver(ctx, to, err)
		}
	}
	var out Out
	err = g.reach(ctx, to, func(ctx context.Context, owner string) (err error) {
		if owner == g.self {
			var a *activation
			if a, err = g.directory.await(ctx, to, withoutDeadline); err == nil {
				out, err = callHere[Out](ctx, g, from, a, in)
			}
			return err
		}
		out, err = actor.Call[Out](ctx, from, actor.Name{Name: hostName, Node: owner}, routed[In]{Kind: to.Kind, Key: to.Key, Message: in})
		return err
	})
	return out, timeOver(ctx, to, err)
}

// timeOver names the grain in the error of a call whose time is over.
func timeOver(ctx context.Context, to Address, err error) error {
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fmt.Errorf("grain: call of %s: %w", to, err)
	}
	return err
}

// callHere calls an activation of this node that was pinned for it.
func callHere[Out, In any](ctx context.Context, g *Grains, from actor.Sender, a *activation, in In) (Out, error) {
	if err := a.takes(reflect.TypeFor[In](), true); err != nil {
		a.unpin()
		var zero Out
		return zero, err
	}
	out, err := actor.Call[Out](ctx, from, a.pid, grainMessage[In]{in: in})
	if err != nil && errors.Is(err, actor.ErrNoProcess) {
		g.directory.dead(a)
	}
	return out, err
}

// reach does something at the owner of a grain, again and again where nothing was done there.
func (g *Grains) reach(ctx context.Context, to Address, do func(ctx context.Context, owner string) error) error {
	v := g.view.Load()
	owner, err := v.owner(to)
	if err == nil {
		if err = do(ctx, owner); err == nil || !g.unhandled(err, owner) {
			return g.outcome(err, owner, to)
		}
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, withoutDeadline)
		defer cancel()
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		timer := time.NewTimer(pause)
		select {
		case <-v.changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return problem(ErrNoOwner, g.self, "%s, until the call's time was over (%w); at last: %w", to, ctx.Err(), err)
		}
		timer.Stop()
		if g.base.Err() != nil {
			return errGrainsNotStarted
		}
		v = g.view.Load()
		if owner, err = v.owner(to); err != nil {
			continue
		}
		if err = do(ctx, owner); err == nil || !g.unhandled(err, owner) {
			return g.outcome(err, owner, to)
		}
	}
}

// The pauses between attempts, where no new view comes before.
const (
	firstPause = time.Millisecond
	lastPause  = 100 * time.Millisecond
)

// outcome is the error of an attempt as the caller gets it.
func (g *Grains) outcome(err error, owner string, to Address) error {
	if err != nil && g.lost(err, owner) {
		return problem(errOutcomeUnknown, owner, "%s: %w", to, err)
	}
	return err
}

// Send sends a message to a grain, which is activated if need be, and does not wait until it is handled. It may wait for a
// moment where the grain is on its way to rest. Messages of one process to one grain arrive in the order in which they
// were sent, each once or not at all; see the package's documentation for what happens while a grain moves. The error reports
// what is known at once: ErrNoOwner, actor.ErrNotHandled, actor.ErrMailboxFull, TooManyGrains.
func Send[M any](from actor.Sender, to Address, message M) error {
	g, err := of(from)
	if err != nil {
		return err
	}
	if a := g.directory.find(to); a != nil {
		return sendHere(g, from, a, message)
	}
	owner, err := g.view.Load().owner(to)
	if err != nil {
		return err
	}
	if owner == g.self {
		a, err := g.directory.await(context.Background(), to, withoutDeadline)
		if err == nil {
			return sendHere(g, from, a, message)
		}
		if !moved(err) {
			return err
		}
		if owner, err = g.view.Load().owner(to); err != nil {
			return err
		}
	}
	return actor.Send(from, actor.Name{Name: hostName, Node: owner}, routed[M]{Kind: to.Kind, Key: to.Key, Message: message})
}

func sendHere[M any](g *Grains, from actor.Sender, a *activation, message M) error {
	if err := a.takes(reflect.TypeFor[M](), false); err != nil {
		a.unpin()
		return err
	}
	err := actor.SendPriority(from, a.pid, actor.PriorityNormal, grainMessage[M]{in: message})
	if err != nil {
		g.directory.dead(a)
	}
	return err
}

// SendConfirmed is Send with a confirmation: without an error the message is in the grain's mailbox. It tries again as Call
// does. That the grain handles it is another matter: an activation that ends with its node takes its mailbox along.
func SendConfirmed[M any](ctx context.Context, from actor.Sender, to Address, message M) error {
	g, err := of(from)
	if err != nil {
		return err
	}
	return g.reach(ctx, to, func(ctx context.Context, owner string) error {
		if owner == g.self {
			a, err := g.directory.await(ctx, to, withoutDeadline)
			if err != nil {
				return err
			}
			return sendHere(g, from, a, message)
		}
		_, err := actor.Call[struct{}](ctx, from, actor.Name{Name: hostName, Node: owner}, important[M]{to.Kind, to.Key, message})
		return err
	})
}
