package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
)

// BreakerInfo is the state of one breaker, as $breakers.list has it.
type BreakerInfo struct {
	Action string `json:"action"` // as BreakerStates.Of takes it
	State  string `json:"state"`  // "closed", "half-open" or "open"
}

// Service makes the service "$breakers", whose action "$breakers.list" tells the dashboard which of the node's breakers are open:
//
//	var states policy.BreakerStates
//	node := sabir.NewNode(sabir.Serve(users, states.Service()), sabir.Use(policy.Breaker{States: &states}))
func (s *BreakerStates) Service() *sabir.Service {
	service := sabir.NewService("$breakers", sabir.Doc("tells the states of the node's circuit breakers"))
	sabir.Handle(service, "list", func(context.Context, sabir.Empty) ([]BreakerInfo, error) {
		list := []BreakerInfo{}
		for action, state := range s.All() {
			list = append(list, BreakerInfo{action, state.String()})
		}
		slices.SortFunc(list, func(a, b BreakerInfo) int {
			if (a.State == Closed.String()) != (b.State == Closed.String()) { // those that are open first, since the list is bounded
				if b.State == Closed.String() {
					return -1
				}
				return 1
			}
			return strings.Compare(a.Action, b.Action)
		})
		return list[:min(len(list), maxListed)], nil
	}, sabir.Doc("lists the breakers, those first that are not closed"), sabir.ClusterOnly(), sabir.Idempotent())
	return service
}

// maxListed bounds the breakers in an answer.
const maxListed = 1000
