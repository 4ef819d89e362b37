package session

import (
	"context"
	"io"
	"syscall"
)

// Dial opens a connection over a carrier and waits for the listener to accept it. It owns the carrier, also where it
// fails; released is called when that was closed. Where the listener refuses, or the carrier learned that nothing listens,
// the error is [syscall.ECONNREFUSED]; where ctx ended first, ctx.Err().
func Dial(ctx context.Context, raw Raw, settings Settings, released func()) (*Conn, error) {
	c := newConn(raw, settings, released)
	go c.pump()
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})
	c.send(kindOpen, version<<16|settings.Window) // an error of the carrier comes up in its Read

	c.mu.Lock()
	for c.failure == nil && !c.opened && !c.refused && ctx.Err() == nil {
		c.changed.Wait()
	}
	err := c.failure
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	case c.refused:
		err = syscall.ECONNREFUSED
	case !c.accepted:
		err = io.ErrUnexpectedEOF // the other side dials too
	}
	c.mu.Unlock()
	stop()
	if err != nil {
		c.close(closedWait) // a listener that has accepted meanwhile should know
		return nil, err
	}
	c.startProbing()
	return c, nil
}
