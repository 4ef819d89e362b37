package dashboard

import "github.com/sabir-go/sabir"

// The errors that the dashboard's own addresses answer with, besides those of package sabir.
var (
	// ErrNotFound: the dashboard has no such page, or no node has what was asked for.
	ErrNotFound = sabir.NewError(sabir.CodeNotFound, "NotFound", "there is nothing here")
	// ErrReadOnly: a call, and the dashboard was made with [ReadOnly].
	ErrReadOnly = sabir.NewError(sabir.CodePermissionDenied, "ReadOnly", "this dashboard only shows: it was made with dashboard.ReadOnly")
	// ErrTooManyWatchers: too many browsers watch the figures. Close one; retryable.
	ErrTooManyWatchers = sabir.NewError(sabir.CodeResourceExhausted, "TooManyWatchers", "too many browsers watch already: close one").AsRetryable()
	// ErrTooManyListeners: too many browsers watch events. Close one; retryable.
	ErrTooManyListeners = sabir.NewError(sabir.CodeResourceExhausted, "TooManyListeners", "too many browsers watch events already: close one").AsRetryable()
)
