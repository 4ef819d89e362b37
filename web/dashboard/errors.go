package dashboard

import "github.com/sabir-go/sabir"

// The errors that the dashboard's own addresses answer with, besides those of package sabir.
var (
	// errNotFound: the dashboard has no such page, or no node has what was asked for.
	errNotFound = sabir.NewError(sabir.CodeNotFound, "NotFound", "there is nothing here")
	// errReadOnly: a call, and the dashboard was made with ReadOnly of [Config].
	errReadOnly = sabir.NewError(sabir.CodePermissionDenied, "ReadOnly", "this dashboard only shows: its dashboard.Config says ReadOnly")
	// errTooManyWatchers: too many browsers watch the figures. Close one; retryable.
	errTooManyWatchers = sabir.NewError(sabir.CodeResourceExhausted, "TooManyWatchers", "too many browsers watch already: close one").AsRetryable()
	// errTooManyListeners: too many browsers watch events. Close one; retryable.
	errTooManyListeners = sabir.NewError(sabir.CodeResourceExhausted, "TooManyListeners", "too many browsers watch events already: close one").AsRetryable()
)
