package membership

import "errors"

// ErrNotOffered is the cause of the error of a call that no node could get, since none offers its action: there is nothing to pick from.
var ErrNotOffered = errors.New("no node offers it")

// Balancer picks which candidate gets a call. Make one for each action: its state is that action's.
//
// Pick's among is never empty and has no nil; the balancer neither keeps nor changes it. Calls with the same key belong on
// the same node, if the balancer heeds keys, which most do not; "" is no key. Pick may be called by many goroutines at
// once. It allocates nothing, but for Nearest when among holds others than at the last call.
type Balancer interface {
	Pick(among []*Candidate, key string) *Candidate
}
