package web

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web/exchange"
)

// keeper keeps strings of all requests, from a filter and from a handler, as their authors may.
type keeper struct {
	byFilter, byHandler, ids []string
	contexts                 []context.Context
}

func (k *keeper) filter() exchange.Filter {
	return exchange.Filter{Name: "keeper", Before: func(x *exchange.Exchange) error {
		k.byFilter = append(k.byFilter, x.Path, x.Query, x.Header.Get("X-Tenant"), x.ID)
		return nil
	}}
}

func (k *keeper) service() *sabir.Service {
	s := sabir.NewService("kept")
	sabir.Handle(s, "call", func(ctx context.Context, in struct {
		N int `json:"n"`
	}) (string, error) {
		x := ExchangeFromContext(ctx)
		k.byHandler = append(k.byHandler, x.Path, x.Query, x.Header.Get("X-Tenant"), x.ID)
		k.ids = append(k.ids, sabir.InfoFromContext(ctx).RequestID)
		k.contexts = append(k.contexts, ctx)
		return sabir.InfoFromContext(ctx).RequestID, nil
	}, sabir.Route("GET", "/kept/{n}"))
	return s
}

func TestWhatFiltersAndHandlersKeepOfARequestStaysAsItWas(t *testing.T) {
	for _, about := range []string{"a filter and a handler", "a handler"} {
		t.Run(about, func(t *testing.T) {
			var k keeper
			var options []gateway.HTTPOption
			if about != "a handler" {
				options = append(options, With(Config{Filters: Filters{k.filter()}}))
			}
			node := start(t, sabir.Serve(k.service()), sabir.HTTP(":0", options...))
			c := wireTo(t, node.HTTPAddr())
			var want, ids []string
			for i := range 5 {
				path, query, tenant := fmt.Sprint("/kept/", i), fmt.Sprint("q=", i), fmt.Sprint("tenant-", i)
				fmt.Fprintf(c, "GET %s?%s HTTP/1.1\r\nHost: localhost\r\nX-Tenant: %s\r\n\r\n", path, query, tenant)
				got, err := c.next("GET")
				if err != nil || got.status != 200 {
					t.Fatal(got, err)
				}
				id := got.header.Get("X-Request-Id")
				want, ids = append(want, path, query, tenant, id), append(ids, id)
			}
			if !slices.Equal(k.byHandler, want) || !slices.Equal(k.ids, ids) {
				t.Errorf("the handler has %q and %q, want %q", k.byHandler, k.ids, want)
			}
			if about != "a handler" && !slices.Equal(k.byFilter, want) {
				t.Errorf("the filter has %q, want %q", k.byFilter, want)
			}
			for i, ctx := range k.contexts {
				if ExchangeFromContext(ctx) != nil || sabir.InfoFromContext(ctx).RequestID != ids[i] {
					t.Errorf("the context of call %d has the exchange %v and the id %q after its end", i, ExchangeFromContext(ctx), sabir.InfoFromContext(ctx).RequestID)
				}
			}
			if slices.Contains(ids, "") || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != len(ids) {
				t.Errorf("the ids %q are not one for each", ids)
			}
		})
	}
}
