package sabir

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
)

// WithRequestID returns a context whose calls, and all they call in turn, carry the request id. Calls that come in over
// HTTP or from another node have one already; a call made in process from a bare context has none unless it is given
// here or by [RequestIDs], so that it need not pay for it.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// NewRequestID returns a fresh id for WithRequestID: a random UUID (RFC 9562, version 4). It tells requests apart, and is
// no secret: its bits come from math/rand/v2, which the runtime seeds from the system.
func NewRequestID() string {
	var text [36]byte
	return string(AppendRequestID(text[:0]))
}

// AppendRequestID is NewRequestID that appends the id to dst.
func AppendRequestID(dst []byte) []byte {
	high, low := rand.Uint64(), rand.Uint64()
	high, low = high&^0xf000|0x4000, low&^(3<<62)|2<<62 // the version and the variant
	var text [36]byte
	putHex(text[0:8], high>>32)
	text[8] = '-'
	putHex(text[9:13], high>>16)
	text[13] = '-'
	putHex(text[14:18], high)
	text[18] = '-'
	putHex(text[19:23], low>>48)
	text[23] = '-'
	putHex(text[24:36], low)
	return append(dst, text[:]...)
}

// putHex writes the last digits of v.
func putHex(dst []byte, v uint64) {
	for i := len(dst) - 2; i >= 0; i -= 2 {
		pair := hexPairs[v&0xff]
		dst[i], dst[i+1] = pair[0], pair[1]
		v >>= 8
	}
}

// hexPairs is all bytes in hexadecimal.
var hexPairs = func() (pairs [256][2]byte) {
	for i := range pairs {
		hex.Encode(pairs[i][:], []byte{byte(i)})
	}
	return pairs
}()

// RequestID is the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

type requestIDKey struct{}

// RequestIDs is a middleware that gives a fresh request id to each call, stream and event that has none:
//
//	node := sabir.NewNode(sabir.Use(sabir.RequestIDs()))
func RequestIDs() Middleware {
	call := func(_ *Action, next Handler) Handler {
		return func(ctx context.Context, r *Request) error { return next(withAnyRequestID(ctx), r) }
	}
	return Middleware{Name: "request ids", Local: call, Remote: call, Stream: call,
		Event: func(_ *Subscription, next EventHandler) EventHandler {
			return func(ctx context.Context, e *Event) error { return next(withAnyRequestID(ctx), e) }
		},
	}
}

func withAnyRequestID(ctx context.Context) context.Context {
	if RequestID(ctx) != "" {
		return ctx
	}
	return WithRequestID(ctx, NewRequestID())
}
