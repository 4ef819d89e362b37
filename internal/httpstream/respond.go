package httpstream

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/isolate"
)

var noDeadline time.Time

// respondOnce responds with the only value of the stream.
func (x *session) respondOnce(s *values) error {
	var value []byte
	over := make(chan error, 1)
	go isolate.Run(func() (err error) {
		value, err = x.onlyValue(s)
		return err
	}, func(err error) { over <- err })
	err := x.await(over)
	switch {
	case err == io.EOF:
		x.w.WriteHeader(http.StatusNoContent)
		return nil
	case err != nil:
		return err
	}
	header := x.w.Header()
	header["Content-Type"] = []string{formTypes[single]}
	header["Content-Length"] = []string{strconv.Itoa(len(value))}
	x.w.WriteHeader(http.StatusOK)
	waiting := memoryOf(value)
	x.out.Add(waiting)
	defer x.out.Remove(waiting)
	x.send(value) // an error means that the caller is gone
	return nil
}

// await waits for what is to be answered.
func (x *session) await(over <-chan error) error {
	interim := x.interim()
	defer interim.stop()
	for {
		select {
		case err := <-over:
			return err
		case <-interim.C:
			interim.look()
		}
	}
}

// onlyValue waits for the end of a stream and gives its value. It is io.EOF for a stream without one.
func (x *session) onlyValue(s *values) ([]byte, error) {
	value, err := x.receiveJSON(s)
	if err != nil {
		return nil, err
	}
	switch _, err := s.recv(); {
	case err == nil:
		return nil, &sabir.Error{Code: sabir.CodeInvalidArgument, Name: ErrManyValues.Name, Node: x.streams.node.ID(),
			Message: x.call.Action.Name + " sends more than one value, which application/json cannot hold: accept application/x-ndjson or text/event-stream"}
	case err != io.EOF:
		return nil, err
	}
	return value, nil
}

// respondAll responds with all values of the stream. An error is for a client that has got nothing yet; broken means that the
// response must be aborted.
func (x *session) respondAll(s *values) (broken bool, err error) {
	box := newOutbox(x.out)
	var pumping sync.WaitGroup
	pumping.Go(func() { isolate.Run(func() error { return x.pump(s, box) }, box.end) })
	broken, err = x.write(box, false)
	s.close()
	box.close()
	pumping.Wait()
	return broken, err
}

// pump puts the values of the stream into the box, in the form of the response, until the stream ends.
func (x *session) pump(s *values, box *outbox) error {
	id, err := strconv.ParseUint(x.r.Header.Get("Last-Event-ID"), 10, 53) // which JavaScript can hold
	if err != nil {
		id = 0
	}
	var head []byte
	for {
		if x.form == octets {
			data, err := s.recv()
			if err != nil {
				return lastOf(err)
			}
			switch is, err := x.takeHead(data); {
			case err != nil:
				return err
			case x.r.Method == http.MethodHead:
				return nil
			case is:
				continue
			}
			if !box.put(data) {
				return errGone
			}
			continue
		}
		value, err := x.receiveJSON(s)
		if err != nil {
			return lastOf(err)
		}
		taken := false
		if x.form == sse {
			id++
			head = strconv.AppendUint(append(head[:0], "id: "...), id, 10)
			head = append(head, "\ndata: "...)
			taken = box.put(head, value, doubleLine)
		} else {
			taken = box.put(value, oneLine)
		}
		if !taken {
			return errGone
		}
	}
}

var (
	oneLine    = []byte("\n")
	doubleLine = []byte("\n\n")
	heartbeats = [...]string{sse: ":\n\n", ndjson: "\n", octets: ""}
)

// lastOf returns the error of a stream's end; nil for io.EOF.
func lastOf(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// write writes the values of the box until it ends or the session does. begun reports whether the head has been written.
func (x *session) write(box *outbox, begun bool) (broken bool, err error) {
	interim := x.interim()
	defer interim.stop()
	begin := func() {
		if !begun {
			begun = true
			interim.stop()
			x.begin()
		}
	}
	timeout := x.limits.Head
	if begun {
		timeout = x.limits.Heartbeat
	}
	silence := time.NewTimer(timeout)
	defer silence.Stop()
	if x.form == octets || uploads(x.r) {
		silence.Stop() // a download has no heartbeat, and what is wrong with a file shows late
	}
	unflushed := false
	for {
		silent := false
		if unflushed {
			select {
			case <-box.ready:
			case <-x.ctx.Done():
				box.end(x.ctx.Err())
			default: // nothing follows at once
				unflushed = false
				if err := x.flush(); err != nil {
					x.fail(errGone)
					return true, errGone
				}
				continue
			}
		} else {
			select {
			case <-box.ready:
			case <-silence.C:
				silent = true
			case <-interim.C:
				interim.look()
			case <-x.ctx.Done():
				box.end(x.ctx.Err())
			}
		}
		p := box.take()
		data := p.data
		switch {
		case p.ended:
			failed := p.err
			if failed != nil {
				failed = x.reason(failed)
			}
			if failed != nil && (!begun && len(data) == 0 || failed == errGone) {
				return begun, failed
			}
			begin()
			return x.last(data, p.inside, failed)
		case silent && begun && !p.inside:
			data = append(data, heartbeats[x.form]...)
		case !silent && len(data) == 0:
			continue
		}
		begin()
		if err := x.send(data); err != nil {
			x.fail(errGone)
			return true, errGone
		}
		box.sent()
		unflushed = true
		if x.form != octets {
			silence.Reset(x.limits.Heartbeat)
		}
	}
}

// begin writes the head of the response.
func (x *session) begin() {
	header, status := x.w.Header(), http.StatusOK
	header["Content-Type"] = []string{formTypes[x.form]}
	if x.form == octets {
		status = x.describeFile(header)
	} else {
		header["Cache-Control"] = []string{"no-store"}
		header["X-Accel-Buffering"] = []string{"no"} // nginx would keep the values back
	}
	x.w.WriteHeader(status)
}

// last writes the rest of the values and the end of the stream.
func (x *session) last(data []byte, inside bool, failed error) (broken bool, err error) {
	if inside { // nothing can follow half a value
		x.send(data)
		x.flush()
		return true, nil
	}
	switch {
	case x.form == sse && failed == nil:
		data = append(data, "event: end\ndata: {}\n\n"...)
	case x.form == sse:
		data = append(data, "event: error\ndata: "...)
		data = append(data, x.problem(failed)...)
		data = append(data, doubleLine...)
	case x.form == ndjson && failed != nil:
		data = append(append(data, x.problem(failed)...), oneLine...)
	}
	if err := x.send(data); err != nil {
		return true, nil
	}
	if err := x.flush(); err != nil {
		return true, nil
	}
	return failed != nil && x.form != sse, nil
}

// send writes data. A client that takes too long over a part of it is cut off.
func (x *session) send(data []byte) error {
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), outboxSize)
		x.control.SetWriteDeadline(time.Now().Add(x.limits.Write))
		if x.slow.Load() {
			return errGone
		}
		if _, err := x.w.Write(data[:n]); err != nil {
			return err
		}
		x.out.Progress()
		data = data[n:]
	}
	return nil
}

// flush sends the bytes in the buffers of net/http.
func (x *session) flush() error {
	x.control.SetWriteDeadline(time.Now().Add(x.limits.Write))
	if x.slow.Load() {
		return errGone
	}
	return x.control.Flush()
}

// problem is the problem document of an error in one line.
func (x *session) problem(err error) []byte {
	_, document := x.call.Problem(err)
	document = bytes.TrimSpace(document)
	if bytes.ContainsAny(document, "\r\n") {
		document = []byte(strings.NewReplacer("\r", " ", "\n", " ").Replace(string(document))) // it is white space: no text has line breaks as they are
	}
	return document
}
