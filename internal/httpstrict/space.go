package httpstrict

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// MakeSpace has a server whose listener takes so many connections at once, and no more, close the one that has waited for a request the longest when there
// are so many, so that nobody keeps others out by connections that do nothing. It takes the server's ConnState; call it before [Serve].
func MakeSpace(server *http.Server, most int) { server.ConnState = (&connections{most: most}).changed }

// connections are those that are open.
type connections struct {
	most    int
	mu      sync.Mutex
	open    int
	waiting list.List // of net.Conn: those between requests, the longest first
	places  map[net.Conn]*list.Element
}

// changed is for http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if place := c.places[conn]; place != nil {
		c.waiting.Remove(place)
		delete(c.places, conn)
	}
	switch state {
	case http.StateNew, http.StateIdle:
		if c.places == nil {
			c.places = make(map[net.Conn]*list.Element)
		}
		c.places[conn] = c.waiting.PushBack(conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
	if state != http.StateNew {
		return
	}
	c.open++
	if longest := c.waiting.Front(); c.open >= c.most && longest.Value != conn {
		c.waiting.Remove(longest)
		delete(c.places, longest.Value.(net.Conn))
		go longest.Value.(net.Conn).Close() // over TLS it says goodbye first
	}
}
