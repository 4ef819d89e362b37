package shop

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
)

// Item is something the shop sells.
type Item struct {
	SKU        string `json:"sku"`
	Name       string `json:"name"`
	PriceCents int64  `json:"price_cents"`
	Quantity   int    `json:"quantity"` // in stock
	Reorder    int    `json:"reorder"`  // how many are ordered when it runs low; 0 when it is made no more
	LowAt      int    `json:"low_at"`   // below this it counts as low
}

// Line is a number of one item.
type Line struct {
	SKU      string `json:"sku" validate:"required,max=20"`
	Quantity int    `json:"quantity" validate:"gte=1,lte=100"`
}

// GetItem is the input of stock.get.
type GetItem struct {
	SKU string `json:"sku" validate:"required,max=20"`
}

// ReserveStock is the input of stock.reserve.
type ReserveStock struct {
	Lines []Line `json:"lines" validate:"required,min=1,max=10,dive"`
}

// Reservation is the answer of stock.reserve: the lines that it took from the shelves, and their price.
type Reservation struct {
	Lines      []Line `json:"lines"`
	TotalCents int64  `json:"total_cents"`
}

// StockLow is the event stock.low.
type StockLow struct {
	SKU  string `json:"sku"`
	Left int    `json:"left"`
}

// The errors of stock, for errors.Is.
var (
	ErrItemNotFound = sabir.NewError(sabir.CodeNotFound, "ItemNotFound", "no such item")
	ErrOutOfStock   = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough in stock")
	// ErrCounting passes: its code makes it retryable, and stock.reserve tries again.
	ErrCounting = sabir.NewError(sabir.CodeUnavailable, "StockCounted", "the shelves are being counted just now").AsRetryable()
)

// countEvery means that one reservation of so many meets a count.
const countEvery = 500

// stock keeps the items by their SKU.
type stock struct {
	service *sabir.Service
	tried   atomic.Int64 // reservations
	mu      sync.Mutex
	items   map[string]*Item
}

// newStock makes the service stock.
func newStock(breakers *policy.BreakerStates) *sabir.Service {
	s := sabir.NewService("stock", sabir.Doc("counts what is on the shelves"))
	st := &stock{service: s, items: seedItems()}
	sabir.Handle(s, "get", st.get, sabir.Doc("tells an item's price and how many there are"), sabir.Idempotent(), sabir.Route("GET", "/stock/{sku}"),
		sabir.Errors(ErrItemNotFound))
	sabir.Handle(s, "list", st.list, sabir.Doc("lists all items"), sabir.Idempotent(), sabir.Route("GET", "/stock"))
	sabir.Handle(s, "reserve", st.reserve, sabir.ClusterOnly(), sabir.Use(policy.Retry{FirstPause: time.Millisecond, MaxPause: 100 * time.Millisecond}, policy.Breaker{States: breakers}),
		sabir.Doc("takes items from the shelves, all or none; emits stock.low"), sabir.Errors(ErrItemNotFound, ErrOutOfStock, ErrCounting))
	sabir.On(s, "stock.low", st.reorder)
	return s
}

func (s *stock) get(_ context.Context, in GetItem) (Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item := s.items[in.SKU]
	if item == nil {
		return Item{}, ErrItemNotFound.WithData(in)
	}
	return *item, nil
}

func (s *stock) list(context.Context, struct{}) ([]Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Item, 0, len(s.items))
	for _, item := range s.items {
		list = append(list, *item)
	}
	slices.SortFunc(list, func(a, b Item) int { return strings.Compare(a.SKU, b.SKU) })
	return list, nil
}

func (s *stock) reserve(ctx context.Context, in ReserveStock) (Reservation, error) {
	if s.tried.Add(1)%countEvery == 0 {
		return Reservation{}, ErrCounting
	}
	taken, low, err := s.take(in.Lines)
	if err != nil {
		return Reservation{}, err
	}
	for _, event := range low {
		notify(ctx, s.service, "stock.low", event)
	}
	return taken, nil
}

// take takes all lines or none, and returns which items became low by it.
func (s *stock) take(lines []Line) (taken Reservation, low []StockLow, err error) {
	wanted := make(map[string]int, len(lines)) // an item may be on several lines
	for _, line := range lines {
		wanted[line.SKU] += line.Quantity
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for sku, quantity := range wanted {
		item := s.items[sku]
		if item == nil {
			return taken, nil, ErrItemNotFound.WithData(GetItem{sku})
		}
		if item.Quantity < quantity {
			return taken, nil, ErrOutOfStock.WithData(map[string]any{"sku": sku, "wanted": quantity, "left": item.Quantity})
		}
	}
	for sku, quantity := range wanted {
		item := s.items[sku]
		wasLow := item.Quantity < item.LowAt
		item.Quantity -= quantity
		taken.TotalCents += int64(quantity) * item.PriceCents
		if !wasLow && item.Quantity < item.LowAt {
			low = append(low, StockLow{sku, item.Quantity})
		}
	}
	taken.Lines = slices.Clone(lines)
	return taken, low, nil
}

// reorder receives events of low items, from its own service or sent by hand, and has the supplier bring more.
func (s *stock) reorder(_ context.Context, low StockLow) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	item := s.items[low.SKU]
	if item == nil {
		return ErrItemNotFound.WithData(GetItem{low.SKU})
	}
	if item.Quantity < item.LowAt { // not brought already
		item.Quantity += item.Reorder
	}
	return nil
}

// seedItems makes the same items each time. The old chart is not made any more, so it sells out.
func seedItems() map[string]*Item {
	items := map[string]*Item{
		"rope":      {Name: "hemp rope, 20 m", PriceCents: 2450},
		"lantern":   {Name: "brass lantern", PriceCents: 6900},
		"compass":   {Name: "dry compass", PriceCents: 11900},
		"sailcloth": {Name: "sailcloth, 1 m²", PriceCents: 1875},
		"tar":       {Name: "pine tar, 1 l", PriceCents: 990},
		"old-chart": {Name: "chart of the Barbary coast, 1773", PriceCents: 45000},
	}
	for sku, item := range items { // wholesale: enough for a benchmark
		item.SKU, item.Quantity, item.LowAt, item.Reorder = sku, 40_000, 20_000, 40_000
	}
	chart := items["old-chart"]
	chart.Quantity, chart.LowAt, chart.Reorder = 25, 5, 0
	return items
}
