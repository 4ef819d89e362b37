package auth

import "github.com/sabir-go/sabir"

// The errors of authentication and authorisation. None reports which part of the credentials was wrong, except for tokens,
// whose fault their bearer can read anyway.
var (
	// ErrNotSignedIn is answered when the call needs a principal and has none: no credentials came with it.
	ErrNotSignedIn = sabir.NewError(sabir.CodeUnauthenticated, "NotSignedIn", "this needs credentials, and none came with the call")
	// ErrBadCredentials is answered when credentials came and are wrong, expired or malformed.
	ErrBadCredentials = sabir.NewError(sabir.CodeUnauthenticated, "BadCredentials", "the credentials are not valid")
	// ErrTokenExpired ends a stream, events or a WebSocket when the credentials expire that it was opened with: open it again
	// with others.
	ErrTokenExpired = sabir.NewError(sabir.CodeUnauthenticated, "TokenExpired", "the credentials have expired that this was opened with: open it again with others")
	// ErrSignedOut ends a stream, events or a WebSocket when the session ends that it was opened with.
	ErrSignedOut = sabir.NewError(sabir.CodeUnauthenticated, "SignedOut", "the session has ended that this was opened with: sign in again")
	// ErrNotAllowed is answered when the principal has none of the roles that the action demands, or its check refused.
	ErrNotAllowed = sabir.NewError(sabir.CodePermissionDenied, "NotAllowed", "the caller may not do this")
	// ErrTooManyChecks is answered when more passwords wait to be checked than Basic takes; retryable.
	ErrTooManyChecks = sabir.NewError(sabir.CodeResourceExhausted, "TooManyChecks", "too many passwords are being checked").AsRetryable()
	// ErrKeysAway is answered when the keys that tokens are checked with could not be fetched; retryable.
	ErrKeysAway = sabir.NewError(sabir.CodeUnavailable, "KeysAway", "the keys that tokens are checked with cannot be fetched now").AsRetryable()
	// ErrMisconfigured is answered to every request while an authenticator has settings that it cannot work with; see [Check].
	ErrMisconfigured = sabir.NewError(sabir.CodeInternal, "AuthMisconfigured", "the authentication is not set up correctly")
	// ErrNoExchange is returned where a session is to begin or end in a call that did not come over HTTP to this node.
	ErrNoExchange = sabir.NewError(sabir.CodeFailedPrecondition, "NoExchange", "the call did not come over HTTP to this node, so it has no cookies")
)

// badCredentials is ErrBadCredentials with the reason.
func badCredentials(why string) *sabir.Error {
	return sabir.NewError(sabir.CodeUnauthenticated, ErrBadCredentials.Name, why)
}

// because is the error e with another text for its callers, and a cause that stays in this process.
func because(e *sabir.Error, cause error) *sabir.Error {
	c := sabir.Errorf(e.Code, e.Name, "%w", cause)
	c.Message, c.Retryable = e.Message, e.Retryable
	return c
}
