// Package rates asks a service outside for exchange rates. Policies keep it answering when that service does not.
package rates

import (
	"context"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
)

// doc: policies
type GetRate struct {
	Currency string `json:"currency" validate:"required,len=3"`
}

type Rate struct {
	Value float64 `json:"value"`
	Stale bool    `json:"stale"`
}

// Get reads only, so that it may be tried again.
var Get = sabir.NewAction[GetRate, Rate]("rates.get", sabir.Idempotent())

// New makes the service. ask is the request to the bank.
func New(ask func(ctx context.Context, currency string) (float64, error)) *sabir.Service {
	s := sabir.NewService("rates")
	stale := policy.FallbackValue(Rate{Value: 1, Stale: true})
	Get.Handle(s, func(ctx context.Context, in GetRate) (Rate, error) {
		value, err := ask(ctx, in.Currency)
		if err != nil {
			return Rate{}, sabir.Errorf(sabir.CodeUnavailable, "BankUnreachable", "the bank: %v", err).AsRetryable()
		}
		return Rate{Value: value}, nil
	}, sabir.Use(policy.Stack{
		Fallback: &stale,
		Cached:   &policy.Cached{Cache: &policy.Cache{}, TTL: time.Minute},
		Retry:    &policy.Retry{Attempts: 3, FirstPause: 10 * time.Millisecond},
		Breaker:  &policy.Breaker{},
		Timeout:  2 * time.Second,
	}))
	return s
}

// end
