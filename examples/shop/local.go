package shop

import (
	"context"
	"maps"
	"slices"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
)

// locals is the actions that can be called at function speed by their name; Go needs to know their types.
var locals = map[string]func(s *Shop, body []byte) (func(context.Context) error, error){
	"users.get":     local[GetUser, User]("users.get"),
	"users.list":    local[ListUsers, []User]("users.list"),
	"stock.get":     local[GetItem, Item]("stock.get"),
	"stock.list":    local[struct{}, []Item]("stock.list"),
	"stock.reserve": local[ReserveStock, Reservation]("stock.reserve"),
	"orders.create": local[CreateOrder, Order]("orders.create"),
	"orders.get":    local[GetOrder, Order]("orders.get"),
	"orders.list":   local[ListOrders, []Order]("orders.list"),
	"orders.crash":  local[struct{}, struct{}]("orders.crash"),
	"mail.outbox":   local[ListMails, []Mail]("mail.outbox"),
}

// Local reads a JSON body once and returns a function that calls the action with it in process, bound to its Go types,
// without JSON or HTTP.
func (s *Shop) Local(action string, body []byte) (func(context.Context) error, error) {
	bind, ok := locals[action]
	if !ok {
		return nil, sabir.Errorf(sabir.CodeNotFound, "ActionNotFound", "the demo has no action %s to call in process", action).
			WithData(map[string]any{"nearest": LocalActions()})
	}
	return bind(s, body)
}

// LocalActions lists the actions that Local knows.
func LocalActions() []string { return slices.Sorted(maps.Keys(locals)) }

func local[In, Out any](action string) func(*Shop, []byte) (func(context.Context) error, error) {
	return func(s *Shop, body []byte) (func(context.Context) error, error) {
		var in In
		if err := json.Codec.Decode(body, &in); err != nil {
			return nil, sabir.Errorf(sabir.CodeInvalidArgument, "BadInput", "the input of %s cannot be read: %w", action, err)
		}
		call := sabir.Bind[In, Out](s.Node, action)
		return func(ctx context.Context) error {
			_, err := call(ctx, in)
			return err
		}, nil
	}
}
