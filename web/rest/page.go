package rest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
)

// Paging is for the input of an action that answers with pages: embed it in the input's struct, or give that fields of your own with
// the JSON names limit and cursor. Over HTTP both come from the query of a GET form.
type Paging struct {
	// Limit is the number of items that the caller wants at most: 1 to 1,000. Default: 50.
	Limit int `json:"limit,omitempty" validate:"min=0,max=1000" default:"50" doc:"how many items a page has at most"`
	// Cursor is Next of the page before; "" for the first page.
	Cursor string `json:"cursor,omitempty" validate:"max=512" doc:"next of the page before; none for the first page"`
}

// Page is the output of an action that answers with pages: make it by [NewPage].
type Page[T any] struct {
	Items []T `json:"items"`
	// Next is the cursor of the page behind this one; "" on the last page.
	Next string `json:"next,omitempty" doc:"the cursor of the next page; absent on the last one"`
}

// NewPage makes a page of items. next is the cursor of the page behind it, from [Cursor] or any text of at most 512 bytes; "" says that this is
// the last one. Where a GET form answers over HTTP, the answer has the header Link with rel="next" too (RFC 8288): the address of
// the request with the cursor, and all else of its query as it was.
func NewPage[T any](ctx context.Context, items []T, next string) (Page[T], error) {
	page := Page[T]{Items: items, Next: next}
	switch {
	case len(next) > maxCursor:
		return page, sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "a cursor has %d bytes; at most %d are taken back", len(next), maxCursor)
	case next == "":
		return page, nil
	}
	return page, sabir.Answer(ctx).SetHeader("Link", "<?cursor="+url.QueryEscape(next)+`>; rel="next"`)
}

// maxCursor bounds the bytes of a cursor.
const maxCursor = 512

// Cursor makes a cursor of what the next page begins behind, such as the last item's id and time: its JSON, in characters that a URL
// takes. Callers can read it, and make others: check what [Paging.ReadCursor] gives as any input. The error is that position has no JSON, or more
// than 384 bytes of it.
func Cursor(position any) (string, error) {
	text, err := json.Marshal(position)
	if err != nil {
		return "", sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "no cursor can be made of a %T: %w", position, err)
	}
	if base64.RawURLEncoding.EncodedLen(len(text)) > maxCursor {
		return "", sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "a cursor of %d bytes of JSON is too large; %d is the limit", len(text), maxCursor/4*3)
	}
	return base64.RawURLEncoding.EncodeToString(text), nil
}

// ReadCursor reads a cursor of [Cursor] into what position points to. For "", the first page, it does nothing. For what is no such
// cursor it returns the error BadCursor.
func (p Paging) ReadCursor(position any) error {
	if p.Cursor == "" {
		return nil
	}
	if len(p.Cursor) > maxCursor {
		return errBadCursor
	}
	text, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil || json.Unmarshal(text, position) != nil {
		return errBadCursor
	}
	return nil
}
