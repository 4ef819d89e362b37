package h2

import (
	"io"
	"net/http"

	"github.com/sabir-go/sabir/internal/transports"
)

// gathered is the number of bytes of several slices that go into one frame.
const gathered = 64 << 10

// dialled is the carrier of the side that made the request.
type dialled struct {
	in     io.ReadCloser
	out    *io.PipeWriter
	client *http.Transport
	gather gatherer
	ended  chan struct{} // closed when reads have ended
}

func (d *dialled) Read(p []byte) (int, error) {
	n, err := d.in.Read(p)
	if err != nil {
		close(d.ended)
	}
	return n, err
}

func (d *dialled) Send(parts [][]byte) error { return d.gather.write(d.out, parts) }

func (d *dialled) Finish() {
	d.out.Close() // which ends the stream for the peer, whose handler then returns
	<-d.ended
	d.in.Close()
	d.client.CloseIdleConnections()
}

// accepted is the carrier of the side whose handler runs.
type accepted struct {
	in     io.Reader
	out    http.ResponseWriter
	flush  func() error
	socket *transports.Socket
	gather gatherer
	done   chan struct{} // closed when the handler may return
}

func (a *accepted) Read(p []byte) (int, error) { return a.in.Read(p) }

func (a *accepted) Send(parts [][]byte) error {
	if err := a.gather.write(a.out, parts); err != nil {
		return err
	}
	return a.flush()
}

func (a *accepted) Finish() {
	close(a.done)
	<-a.socket.Gone() // the peer closes it when it has read all
}

// gatherer combines several slices into a small number of writes, each of which costs a frame and some handing over.
type gatherer struct{ buf []byte }

func (g *gatherer) write(w io.Writer, parts [][]byte) error {
	if len(parts) == 1 {
		return writeAll(w, parts[0])
	}
	g.buf = g.buf[:0]
	for _, part := range parts {
		if len(g.buf)+len(part) > gathered {
			if err := writeAll(w, g.buf); err != nil {
				return err
			}
			g.buf = g.buf[:0]
		}
		if len(part) >= gathered {
			if err := writeAll(w, part); err != nil {
				return err
			}
			continue
		}
		g.buf = append(g.buf, part...)
	}
	return writeAll(w, g.buf)
}

func writeAll(w io.Writer, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	_, err := w.Write(p)
	return err
}

// handler turns requests into connections.
type handler struct{ served *transports.Served }

type socketKey struct{}

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, ok := r.Context().Value(socketKey{}).(*transports.Socket)
	switch {
	case !ok:
		http.Error(w, "this server cannot take links", http.StatusInternalServerError)
		return
	case r.URL.Path != path:
		http.Error(w, "nodes of Sabir meet here, at "+path, http.StatusNotFound)
		return
	case r.Method != http.MethodPost || r.ProtoMajor != 2:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "nodes of Sabir meet here, by POST over HTTP/2", http.StatusMethodNotAllowed)
		return
	}
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", contentType)
	a := &accepted{in: r.Body, out: w, flush: control.Flush, socket: socket, done: make(chan struct{})}
	if err := control.Flush(); err != nil {
		return
	}
	conn := transports.Carry(a, socket)
	if !h.served.Deliver(conn, socket) {
		go conn.Close() // which waits for this handler
	}
	<-a.done
}
