package subrequest

import "bytes"

// Events reads the server-sent events of a stream's answer (html.spec.whatwg.org, 9.2.6), in the form in which package httpstream writes
// them. Its Write is for [Do].
type Events struct {
	// Take is called with each event; comments and heartbeats are none. event is "" for a value, "end" and "error". data is valid until it returns.
	// false makes Events pass over the rest.
	Take func(event string, data []byte) bool
	// Quiet is called for each heartbeat, where it is not nil.
	Quiet func()

	line  []byte // the part of one that has come
	event string
	data  []byte
	ended bool
}

// Write takes a part of the answer.
func (e *Events) Write(p []byte) {
	for len(p) > 0 && !e.ended {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			e.line = append(e.line, p...)
			return
		}
		e.line = append(e.line, p[:i]...)
		e.takeLine(e.line)
		e.line, p = e.line[:0], p[i+1:]
	}
}

func (e *Events) takeLine(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(": "))
	switch {
	case len(line) == 0:
		if e.event != "" || len(e.data) > 0 {
			e.ended = !e.Take(e.event, e.data)
		} else if e.Quiet != nil {
			e.Quiet()
		}
		e.event, e.data = "", e.data[:0]
	case string(name) == "event":
		e.event = string(value)
	case string(name) == "data":
		e.data = append(e.data, value...)
	}
}
