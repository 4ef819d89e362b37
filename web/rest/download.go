package rest

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/filehead"
)

// File describes the content of a [Download].
type File struct {
	// Type is the media type. Default: application/octet-stream. Browsers run what a text/html or image/svg+xml says: give no type that
	// the one who uploaded the file has chosen.
	Type string
	// Name has browsers save the file under this name; "" leaves it to them.
	Name string
	// Version becomes the ETag, as [SetVersion] has it; without it a download that broke off can go on only by Modified.
	Version string
	// Modified is the time of the last change; the zero time is not sent.
	Modified time.Time
}

// Download sends the content of a file to the caller of a stream of bytes. A GET or HEAD form over HTTP answers as a server of files does
// (RFC 9110, sections 13 and 14): 206 with the parts that Range asks for, one or several (multipart/byteranges), unless If-Range names an
// older version; 304 and 412 by the version and the time; 416 for a part that the file does not have; with its length and type. All other
// callers get the whole content. It sends 32 KiB at a time and reads only what the answer has.
func Download[In any](ctx context.Context, s *sabir.Stream[In, []byte], content io.ReadSeeker, file File) error {
	key, method := filehead.Wanted(outside(ctx))
	read := &reading{ReadSeeker: content}
	w := &sender{send: s.Send, key: key, header: http.Header{}}
	if key == "" {
		w.began = true
		if _, err := read.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err := io.Copy(w, read)
		return err
	}
	if err := file.describe(w.header); err != nil {
		return err
	}
	request := &http.Request{Method: method, URL: &url.URL{Path: "/"}, Header: http.Header{}}
	metadata := sabir.InfoFromContext(ctx).Metadata
	for _, name := range filehead.Conditions {
		if value := metadata[strings.ToLower(name)]; value != "" {
			request.Header.Set(name, value)
		}
	}
	http.ServeContent(w, request, "", file.Modified, read)
	if w.failed != nil {
		return w.failed
	}
	return read.failed
}

// describe sets the headers of the whole file.
func (f *File) describe(header http.Header) error {
	header.Set("Content-Type", "application/octet-stream")
	if f.Type != "" {
		header.Set("Content-Type", f.Type)
	}
	if f.Name != "" {
		header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	}
	if f.Version != "" {
		tag, err := tagOf(f.Version)
		if err != nil {
			return err
		}
		header.Set("ETag", tag)
	}
	return nil
}

// sender is an [http.ResponseWriter] that sends the answer as values of a stream, its head first.
type sender struct {
	send   func([]byte) error
	key    string // that the head begins with
	header http.Header
	began  bool
	status int
	failed error
}

func (w *sender) Header() http.Header { return w.header }

func (w *sender) WriteHeader(status int) {
	if w.began {
		return
	}
	w.began, w.status = true, status
	head := filehead.Head{Status: status, Header: map[string]string{}}
	for name, values := range w.header {
		if len(values) > 0 && slices.Contains(filehead.Headers, name) {
			head.Header[name] = values[0]
		}
	}
	text, err := json.Marshal(head)
	if err == nil {
		err = w.send(append([]byte(w.key), text...))
	}
	w.failed = err
}

// Write sends a copy, as the receiver may keep what it gets. What net/http writes about an error is left out: the gateway has its own form.
func (w *sender) Write(p []byte) (int, error) {
	if !w.began {
		w.WriteHeader(http.StatusOK)
	}
	if w.failed == nil && w.status < 300 {
		w.failed = w.send(slices.Clone(p))
	}
	if w.failed != nil {
		return 0, w.failed
	}
	return len(p), nil
}

// reading keeps the error of the content, which net/http says nothing of.
type reading struct {
	io.ReadSeeker
	failed error
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.ReadSeeker.Read(p)
	if err != nil && err != io.EOF {
		r.failed = err
	}
	return n, err
}

func (r *reading) Seek(offset int64, whence int) (int64, error) {
	at, err := r.ReadSeeker.Seek(offset, whence)
	if err != nil {
		r.failed = err
	}
	return at, err
}
