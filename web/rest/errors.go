package rest

import "github.com/sabir-go/sabir"

// The errors of this package.
var (
	// ErrVersionMismatch: the caller's If-Match or If-None-Match does not fit the version that is there: it has read an older one, or wants
	// to create what exists. Read it again, and repeat the change.
	ErrVersionMismatch = sabir.NewError(sabir.CodeFailedPrecondition, "VersionMismatch", "another version is there than the one that the request was made for")
	// errBadCursor: a cursor is none that a page gave. Begin at the first page.
	errBadCursor = sabir.NewError(sabir.CodeInvalidArgument, "BadCursor", "this is no cursor of a page")
)
