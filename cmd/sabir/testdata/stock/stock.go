// Written by sabir import moleculer; it is yours to change.

// Package stock has the contracts of the services of the Moleculer project.
package stock

import (
	"github.com/sabir-go/sabir"
)

// StockReserveInput has no name of its own in the API.
type StockReserveInput struct {
	Amount  int64   `json:"amount" validate:"gt=0"`
	Article string  `json:"article" validate:"min=1"`
	Note    *string `json:"note,omitzero"`
}

// StockReserve: takes articles out of the stock
var StockReserve = sabir.NewAction[StockReserveInput, any]("stock.reserve")

// EventOrdersPlaced is the event orders.placed
var EventOrdersPlaced = sabir.NewEvent[any]("orders.placed")
