package http1

import (
	"context"
	"crypto/tls"
	"net"
)

// WhileGone has f called every half second once the other end of a request's connection has closed it, also where bytes wait
// in front of the end that have not been read: net/http notices the end only when it reads that far. ctx is the request's, or
// made from it; f must be quick. stop ends the calls. A connection has one such f at a time. For requests that did not come
// over HTTP/1 to a [Server], and on systems that cannot report it, f is never called.
func WhileGone(ctx context.Context, f func()) (stop func()) {
	c, _ := ctx.Value(connKey{}).(*conn)
	if c == nil {
		return func() {}
	}
	c.whileGone.Store(&f)
	return func() { c.whileGone.CompareAndSwap(&f, nil) }
}

// connKey is the key of a connection in the contexts of the requests that net/http reads from it.
type connKey struct{}

// net/http calls withConn for each connection that it takes over. Those of HTTP/2 are always read from.
func withConn(ctx context.Context, taken net.Conn) context.Context {
	if _, multiplexed := taken.(*tls.Conn); multiplexed {
		return ctx
	}
	if c := handed(taken); c != nil {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// handedTicks is the number of ticks between two looks at a connection that net/http has.
const handedTicks = 5

// lookHanded is the watchdog's look at such a connection.
func (c *conn) lookHanded() {
	f := c.whileGone.Load()
	if f == nil || c.watched == nil || c.server.now.Load()%handedTicks != 0 {
		return
	}
	c.server.gone = false
	c.watched.Control(c.server.lookGone)
	if c.server.gone {
		(*f)()
	}
}
