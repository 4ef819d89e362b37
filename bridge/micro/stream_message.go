package micro

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// messages reads the messages of a stream over HTTP/1.1 from its connection, each within bounds.
type messages struct {
	limit *io.LimitedReader
	from  *bufio.Reader
	all   *atomic.Int64 // counts bytes that are read
}

func newMessages(from io.Reader, all *atomic.Int64) *messages {
	limit := &io.LimitedReader{R: from}
	return &messages{limit, bufio.NewReader(limit), all}
}

// request reads a message of a client.
func (m *messages) request() (http.Header, []byte, error) {
	m.limit.N = maxHead
	r, err := http.ReadRequest(m.from)
	if err != nil {
		return nil, nil, err
	}
	body, err := m.body(r.ContentLength, r.Body)
	return r.Header, body, err
}

// response reads a message of a server. The error is io.EOF only where the connection has ended between two.
func (m *messages) response() (status string, h http.Header, body []byte, err error) {
	m.limit.N = maxHead
	if _, err := m.from.Peek(1); err != nil {
		return "", nil, nil, err
	}
	r, err := http.ReadResponse(m.from, nil) //nolint:bodyclose // see body
	if err != nil {
		return "", nil, nil, err
	}
	body, err = m.body(r.ContentLength, r.Body)
	return r.Status, r.Header, body, err
}

// body reads the body of a message. It is not closed: that would read the rest of one that is too large.
func (m *messages) body(size int64, body io.Reader) ([]byte, error) {
	if size > maxMessage {
		return nil, errTooLarge
	}
	m.limit.N = maxMessage + 1
	c := &counted{from: io.LimitReader(body, maxMessage+1), all: m.all}
	defer c.forget()
	data, err := io.ReadAll(c)
	if err == nil && len(data) > maxMessage {
		err = errTooLarge
	}
	return data, err
}

// writeResponse writes a message of a server.
func writeResponse(to io.Writer, h http.Header, body []byte) error {
	return writeMessage(to, "HTTP/1.1 200 OK\r\n", h, body)
}

// writeRequest writes a message of a client.
func writeRequest(to io.Writer, host string, h http.Header, body []byte) error {
	return writeMessage(to, "POST / HTTP/1.1\r\nHost: "+host+"\r\n", h, body)
}

func writeMessage(to io.Writer, line string, h http.Header, body []byte) error {
	var head strings.Builder
	head.WriteString(line)
	if err := h.Write(&head); err != nil {
		return err
	}
	fmt.Fprintf(&head, "Content-Length: %d\r\n\r\n", len(body))
	_, err := to.Write(append([]byte(head.String()), body...))
	return err
}
