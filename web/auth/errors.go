package auth

import "github.com/sabir-go/sabir"

// The errors of authentication and authorisation. None reports which part of the credentials was wrong, except for tokens,
// whose fault their bearer can read anyway.
var (
	// ErrNotSignedIn: the call needs a principal, and no credentials came with it. Send credentials; inside the process use [As] or
	// [AsSystem].
	ErrNotSignedIn = sabir.NewError(sabir.CodeUnauthenticated, "NotSignedIn", "this needs credentials, and none came with the call")
	// ErrBadCredentials: credentials came and are wrong, expired or malformed. Sign in again.
	ErrBadCredentials = sabir.NewError(sabir.CodeUnauthenticated, "BadCredentials", "the credentials are not valid")
	// ErrTokenExpired: a stream, events or a WebSocket ended because the credentials expired that it was opened with. Open it again
	// with others.
	ErrTokenExpired = sabir.NewError(sabir.CodeUnauthenticated, "TokenExpired", "the credentials have expired that this was opened with: open it again with others")
	// ErrSignedOut: a stream, events or a WebSocket ended with the session that it was opened with. Sign in again.
	ErrSignedOut = sabir.NewError(sabir.CodeUnauthenticated, "SignedOut", "the session has ended that this was opened with: sign in again")
	// ErrNotAllowed: the principal has none of the roles that the action demands, or its check refused.
	ErrNotAllowed = sabir.NewError(sabir.CodePermissionDenied, "NotAllowed", "the caller may not do this")
	// errTooManyChecks: more passwords wait to be checked than [Basic] takes. Try again later.
	errTooManyChecks = sabir.NewError(sabir.CodeResourceExhausted, "TooManyChecks", "too many passwords are being checked").AsRetryable()
	// errKeysUnreachable: the keys that tokens are checked with could not be fetched. Try again; check the address of the keys.
	errKeysUnreachable = sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", "the keys that tokens are checked with cannot be fetched now").AsRetryable()
	// errSessionsUnreachable: the store of sessions cannot be asked now whether the caller's has ended, or take what was to begin or
	// end. Try again; check [SessionConfig.Store].
	errSessionsUnreachable = sabir.NewError(sabir.CodeUnavailable, "SessionsUnreachable", "it cannot be looked up now whether the session goes on").AsRetryable()
	// errAuthMisconfigured: an authenticator has settings that it cannot work with, and the server did not look before it started. Every request
	// gets it. Correct what the message names.
	errAuthMisconfigured = sabir.NewError(sabir.CodeInternal, "AuthMisconfigured", "the authentication is not set up correctly")
	// errNoExchange: a session is to begin or end in a call that did not come over HTTP to this node. Sign in where HTTP is served.
	errNoExchange = sabir.NewError(sabir.CodeFailedPrecondition, "NoExchange", "the call did not come over HTTP to this node, so it has no cookies")
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
