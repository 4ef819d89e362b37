package web

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/web/exchange"
)

// read reads the body; its declared length is checked before anything is allocated. If it fails, the exchange holds the
// response. held is what account counts for the body.
func (s *server) read(x *exchange.Exchange, w http.ResponseWriter, r *http.Request, to *target, account *memory.Account) (held int, whole bool) {
	v := requestContext{Exchange: x, server: s, to: to}
	limit := to.body
	if to.body == 0 || r.Body == nil || r.Body == http.NoBody {
		return 0, true
	}
	if r.ContentLength > limit {
		v.fail(v.tooLarge(limit))
		return 0, false
	}
	body, held, err := readAll(x.Body[:0], http.MaxBytesReader(w, r.Body, limit), account)
	x.Body = body
	if err == nil {
		// The deadline for the body must not end the call: while it runs, the server reads on to notice when the caller goes.
		http.NewResponseController(w).SetReadDeadline(time.Time{})
		return held, true
	}
	if err == errNoSpace {
		v.fail(s.holdsTooMuch())
	} else if _, over := errors.AsType[*http.MaxBytesError](err); over {
		v.fail(v.tooLarge(limit))
	} else {
		v.fail(badBody(err))
	}
	return held, false
}

// errNoSpace means that the account has no space for a body.
var errNoSpace = errors.New("no space for the body")

// readAll appends all bytes of r, and grows dst only as they arrive: a large declared length alone costs nothing. held is what account
// counts for them, after an error too.
func readAll(dst []byte, r io.Reader, account *memory.Account) (_ []byte, held int, err error) {
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		if !account.Grow(held, cap(dst)) {
			return dst, held, errNoSpace
		}
		held = cap(dst)
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, held, nil
		}
		if err != nil {
			return dst, held, err
		}
	}
}

// badBody is the error for a body that did not come as announced. Its connection cannot be used again.
func badBody(err error) *sabir.Error {
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && timeout.Timeout() {
		return sabir.NewError(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the body did not come in time")
	}
	return sabir.NewError(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the body ends before its announced length, or its chunks are malformed")
}
