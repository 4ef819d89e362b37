package httpstream

import (
	"bufio"
	"errors"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sabir-go/sabir"
)

const (
	// chunk is the most bytes of one value of an upload.
	chunk = 32 << 10
	// partHead bounds the bytes before the content of a part.
	partHead = 64 << 10
	// maxFileName is the most bytes of a file name, as most file systems have it.
	maxFileName = 255
)

// uploadBody is an upload whose file is the body.
func (x *session) uploadBody() (input, error) {
	if given := x.r.Header.Get("Content-Disposition"); given != "" {
		if _, parameters, err := mime.ParseMediaType(given); err == nil {
			x.addMetadata("file-name", fileName(parameters["filename"]))
		}
	}
	x.addMetadata("content-type", mediaType(x.r))
	return func(s *values) error { return x.upload(s, timedBody{x}) }, nil
}

// uploadForm is an upload whose file is the only part of a form.
func (x *session) uploadForm(boundary string) (input, error) {
	if boundary == "" {
		return nil, wrongType("the form's Content-Type has no boundary")
	}
	bounded := &headReader{r: timedBody{x}}
	// A reader of this size is taken over by the form's: it then reads chunks, and not 4 KiB at a time.
	form := multipart.NewReader(bufio.NewReaderSize(bounded, 2*chunk), boundary)
	bounded.left = partHead + 2*chunk
	file, err := form.NextRawPart() // as it is: its encoding is left to the handler
	switch {
	case err == io.EOF:
		return nil, badInput("the form has no parts: it must have one, the file")
	case err != nil:
		return nil, x.badForm(err)
	}
	_, disposition, _ := mime.ParseMediaType(file.Header.Get("Content-Disposition"))
	if _, is := disposition["filename"]; !is {
		return nil, badInput("the form's field %.100q is no file: the form must have one part, the file; give the rest as X-Meta- headers", file.FormName())
	}
	x.addMetadata("file-name", fileName(disposition["filename"]))
	kind, _, _ := mime.ParseMediaType(file.Header.Get("Content-Type"))
	x.addMetadata("content-type", kind)
	bounded.left = math.MaxInt64
	return func(s *values) error {
		if err := x.upload(s, file); err != nil {
			return err
		}
		bounded.left = partHead + 2*chunk
		switch other, err := form.NextRawPart(); {
		case err == nil:
			return badInput("the form has another part behind the file, %.100q: it must have one", other.FormName())
		case err != io.EOF:
			return x.badForm(err)
		}
		// What is behind the form's end is not used, but has to be read for the connection to go on.
		if _, err := io.CopyN(io.Discard, bounded, partHead); err != io.EOF {
			return badInput("the body goes on behind the end of the form")
		}
		return nil
	}, nil
}

// badForm is the error of a form that cannot be read, by its own fault or the body's.
func (x *session) badForm(err error) error {
	text := err.Error()
	_, network := errors.AsType[net.Error](err)
	if network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, bufio.ErrTooLong) ||
		!strings.HasPrefix(text, "multipart: ") && !strings.HasPrefix(text, "malformed MIME") {
		return x.badBody(err)
	}
	return badInput("the form is malformed: %.200s", text)
}

// notify adds a fact to the metadata of the stream that is about to be opened.
func (x *session) addMetadata(key, value string) {
	if value != "" {
		x.ctx = sabir.WithMetadata(x.ctx, key, value)
	}
}

// upload sends the bytes of from as they arrive.
func (x *session) upload(s *values, from io.Reader) error {
	buffer := x.newChunkBuffer()
	for {
		n, err := from.Read(buffer.next())
		if n > 0 {
			if err := s.send(buffer.use(n)); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return x.badForm(err)
		}
	}
}

// timedBody is the body of an upload, which may come slowly but must not stand still.
type timedBody struct{ x *session }

func (b timedBody) Read(p []byte) (int, error) {
	b.x.body.renew(b.x.limits.Read)
	n, err := b.x.r.Body.Read(p)
	b.x.body.rest() // while the handler is busy, nothing waits for the caller
	return n, err
}

// headReader gives no more than left bytes.
type headReader struct {
	r    io.Reader
	left int64
}

func (h *headReader) Read(p []byte) (int, error) {
	if h.left <= 0 {
		return 0, bufio.ErrTooLong
	}
	n, err := h.r.Read(p[:min(int64(len(p)), h.left)])
	h.left -= int64(n)
	return n, err
}

// fileName is the last part of a path as Unix or Windows writes it, without control characters and what changes the
// direction of text, of at most 255 bytes: "" where nothing is left that could be the name of a file. It is a name, not yet
// one that is free or wanted.
func fileName(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	for len(name) > maxFileName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = strings.TrimSpace(name[:len(name)-size])
	}
	if strings.Trim(name, ". ") == "" {
		return ""
	}
	return name
}
