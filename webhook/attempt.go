package webhook

import (
	"context"
	"errors"
	"sync"

	"github.com/sabir-go/sabir"
)

// attempts makes the attempts of a [Delivery] on one node. All endpoints share the messages that a consumer handles at once, so an endpoint that takes
// requests and never answers would hold up the others, each of its events for the whole time limit: once an attempt has ended so, its endpoint gets one
// at a time until it answers, and the others fail at once and come again later.
type attempts struct {
	*Delivery
	lock   sync.Mutex
	silent map[string]bool // by ID, the endpoints whose last attempt had no answer in time: whether another is under way; guarded by lock
}

// deliver makes one attempt.
func (a *attempts) deliver(ctx context.Context, w waiting) error {
	endpoints, err := a.Endpoints(ctx)
	if err != nil {
		return err
	}
	for _, to := range endpoints {
		if to.ID == w.Endpoint {
			return a.attempt(ctx, to, w.Event)
		}
	}
	a.answered(w.Endpoint)
	return nil
}

func (a *attempts) attempt(ctx context.Context, to Endpoint, e Event) error {
	if !a.begin(to.ID) {
		return sabir.Errorf(sabir.CodeUnavailable, sabir.ErrServiceUnavailable.Name,
			"the webhook %s has not answered in time, so it is tried with one event at a time until it does", to.name())
	}
	err := a.Client.Send(ctx, to, e)
	if errors.Is(err, context.DeadlineExceeded) {
		a.unanswered(to.ID)
	} else {
		a.answered(to.ID)
	}
	return err
}

// begin reports whether an attempt may be made now.
func (a *attempts) begin(id string) bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	underWay, silent := a.silent[id]
	if silent {
		a.silent[id] = true
	}
	return !underWay
}

func (a *attempts) unanswered(id string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.silent[id] = false
}

func (a *attempts) answered(id string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	delete(a.silent, id)
}
