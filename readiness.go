package sabir

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// readinessExtension is an [Extension] that needs something outside the process, such as a broker.
type readinessExtension interface {
	Extension
	Ready(ctx context.Context) error
}

const (
	// readyFor is the time for which an answer about readiness is given again.
	readyFor = 500 * time.Millisecond
	// readyLimit bounds the question.
	readyLimit = time.Second
)

// readiness is the last answer of a node's extensions.
type readiness struct {
	turn  chan struct{} // has room for one: who asks the extensions
	mu    sync.Mutex
	asked []readinessExtension // of the node that runs
	at    time.Time
	err   error
}

// Ready returns nil if calls should be sent to this node, as GET /ready does. The error is [ErrServiceUnavailable] and says what is
// wrong: the node does not run; services that its own depend on, see [DependsOn], are missing (its Data has their names as a list,
// "missing"); or an extension misses what it needs, such as the broker of channels. Extensions are asked at most twice a
// second, for a second at most. A node that is not ready takes calls all the same, as far as it can.
func (n *Node) Ready(ctx context.Context) error {
	if n.callingNode() == nil {
		return errNotMade()
	}
	state := n.State()
	if missing := n.unmetNeeds(state); missing != nil {
		return missing
	}
	if state != StateRunning {
		return n.notReady("the node is " + state.String())
	}
	r := &n.readiness
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return n.notReady("what the node needs was not asked in time: " + ctx.Err().Error())
	}
	r.mu.Lock()
	asked, at, err := r.asked, r.at, r.err
	r.mu.Unlock()
	if len(asked) == 0 || !at.IsZero() && time.Since(at) < readyFor {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	var missing []error
	for _, e := range asked {
		if err := n.isolated("the question whether it is ready", ctx, e.Ready); err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", e.Name(), err))
		}
	}
	err = nil
	if found := errors.Join(missing...); found != nil {
		err = n.notReady(found.Error())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.err = time.Now(), err
	return err
}

func (n *Node) notReady(why string) error {
	return &Error{Code: CodeUnavailable, Name: ErrServiceUnavailable.Name, Node: n.id, Retryable: true, Message: why}
}

// noteReadiness keeps those of the started extensions that are asked.
func (n *Node) noteReadiness(started []Extension) {
	r := &n.readiness
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked, r.at, r.err = nil, time.Time{}, nil
	for _, e := range started {
		if e, ok := e.(readinessExtension); ok {
			r.asked = append(r.asked, e)
		}
	}
}
