package auth

import "github.com/sabir-go/sabir"

// The errors of authentication and authorisation. None says which part of the credentials was wrong, except for tokens,
// whose fault their bearer can read anyway.
var (
	// ErrNotSignedIn is answered when the call needs a principal and has none: no credentials came with it.
	ErrNotSignedIn = sabir.NewError(sabir.Unauthenticated, "NotSignedIn", "this needs credentials, and none came with the call")
	// ErrBadCredentials is answered when credentials came and are wrong, expired or malformed.
	ErrBadCredentials = sabir.NewError(sabir.Unauthenticated, "BadCredentials", "the credentials are not valid")
	// ErrNotAllowed is answered when the principal has none of the roles that the action demands, or its check said no.
	ErrNotAllowed = sabir.NewError(sabir.PermissionDenied, "NotAllowed", "the caller may not do this")
	// ErrTooManyChecks is answered when more passwords wait to be checked than Basic takes; retryable.
	ErrTooManyChecks = sabir.NewError(sabir.ResourceExhausted, "TooManyChecks", "too many passwords are being checked")
	// ErrKeysAway is answered when the keys that tokens are checked with could not be fetched; retryable.
	ErrKeysAway = sabir.NewError(sabir.Unavailable, "KeysAway", "the keys that tokens are checked with cannot be fetched now")
	// ErrMisconfigured is answered to every request while an authenticator has settings that it cannot work with; see [Check].
	ErrMisconfigured = sabir.NewError(sabir.Internal, "AuthMisconfigured", "the authentication is not set up correctly")
	// ErrNoExchange is returned where a session is to begin or end in a call that did not come over HTTP to this node.
	ErrNoExchange = sabir.NewError(sabir.FailedPrecondition, "NoExchange", "the call did not come over HTTP to this node, so it has no cookies")
)

// badCredentials is ErrBadCredentials that says why.
func badCredentials(why string) *sabir.Error {
	return sabir.NewError(sabir.Unauthenticated, ErrBadCredentials.Name, why)
}

// because is the error e with another text for its callers, and a cause that stays in this process.
func because(e *sabir.Error, cause error) *sabir.Error {
	c := sabir.Errorf(e.Code, e.Name, "%w", cause)
	c.Message = e.Message
	return c
}
