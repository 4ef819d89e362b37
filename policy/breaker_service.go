package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
)

// breakerInfo is the state of one breaker, as $breakers.list has it.
type breakerInfo struct {
	Action string `json:"action"` // as BreakerStates.Of takes it
	State  string `json:"state"`  // "closed", "half-open" or "open"
}

// Service makes the service "$breakers", whose action "$breakers.list" tells the dashboard which of the node's breakers are open:
//
//	var states policy.BreakerStates
//	node := sabir.NewNode(sabir.Serve(users, states.Service()), sabir.Use(policy.Breaker{States: &states}))
func (s *BreakerStates) Service() *sabir.Service {
	service := sabir.NewService("$breakers", sabir.Doc("tells the states of the node's circuit breakers"))
	sabir.Handle(service, "list", func(context.Context, sabir.Empty) ([]breakerInfo, error) {
		list := []breakerInfo{}
		for action, state := range s.All() {
			list = append(list, breakerInfo{action, state})
		}
		slices.SortFunc(list, func(a, b breakerInfo) int {
			if (a.State == "closed") != (b.State == "closed") { // those that are open first, since the list is bounded
				if b.State == "closed" {
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
