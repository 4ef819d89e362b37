package http1

import "slices"

// readBody reads the body of a request whose head has the given size.
func (c *conn) readBody(size int) bool {
	w := c.work
	length := int(w.x.Length)
	at := w.start + size
	if w.end-at < length {
		if !c.flush() {
			return false
		}
		c.enter(body, c.server.ticks.body)
		if at+length > len(w.in) {
			return c.readLong(at, length)
		}
		for w.end-at < length {
			c.into = w.in[w.end:]
			n := c.read()
			if n <= 0 {
				return false
			}
			w.end += n
		}
	}
	w.start = at + length
	w.x.Body = w.in[at:w.start:w.start]
	return true
}

// readLong reads a body that does not fit behind its head. The buffer grows only as bytes come, so a large Content-Length alone
// costs nothing.
func (c *conn) readLong(at, length int) bool {
	w := c.work
	w.body = append(w.body[:0], w.in[at:w.end]...)
	for len(w.body) < length {
		if len(w.body) == cap(w.body) {
			w.body = slices.Grow(w.body, min(len(w.body)+firstIn, length-len(w.body)))
		}
		if !c.holdBody(cap(w.body)) {
			return c.refuseBody()
		}
		c.into = w.body[len(w.body):min(cap(w.body), length)]
		n := c.read()
		if n <= 0 {
			return false
		}
		w.body = w.body[:len(w.body)+n]
	}
	w.start, w.end = 0, 0 // the head's strings stay: nothing is read before the answer is there
	w.x.Body = w.body
	return true
}
