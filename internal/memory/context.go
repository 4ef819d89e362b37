package memory

import "context"

type accountKey struct{}

// WithAccount returns a context whose streams count for the account.
func WithAccount(ctx context.Context, a *Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// AccountOf is the account of WithAccount; nil for none.
func AccountOf(ctx context.Context) *Account {
	a, _ := ctx.Value(accountKey{}).(*Account)
	return a
}

// OfNode returns the budget of a *sabir.Node. Package sabir sets it, so that what is built on it shares the budget of its node.
var OfNode func(node any) *Budget
