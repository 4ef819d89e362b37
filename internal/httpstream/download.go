package httpstream

import (
	"net/http"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/filehead"
	"github.com/sabir-go/sabir/web/rest"
)

// askForHead has the handler of a download say what the answer is beside its bytes: see package rest.
func (x *session) askForHead() {
	if x.form != octets || uploads(x.r) || x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		return
	}
	key, metadata := filehead.Ask(x.r)
	x.headKey = key
	for name, value := range metadata {
		x.ctx = sabir.WithMetadata(x.ctx, name, value)
	}
}

// takeHead looks whether the first value of a download is its head. It is for the goroutine that receives the values; the one that writes
// the answer sees x.head with the first bytes, or the end.
func (x *session) takeHead(value []byte) (is bool, err error) {
	key := x.headKey
	if x.headKey = ""; key == "" {
		return false, nil
	}
	head, is, err := filehead.Read(value, key)
	if err != nil {
		return true, &sabir.Error{Code: sabir.CodeInternal, Name: errname.BadOutput, Node: x.streams.node.ID(), Message: err.Error()}
	}
	x.head = head
	if !is {
		return false, nil
	}
	switch head.Status {
	case http.StatusPreconditionFailed:
		return true, rest.ErrVersionMismatch
	case http.StatusRequestedRangeNotSatisfiable:
		return true, ErrRangeNotSatisfiable
	case http.StatusInternalServerError: // the handler returns the reason
		x.head = nil
	}
	return true, nil
}

// describeFile sets the headers of a download and returns its status.
func (x *session) describeFile(header http.Header) int {
	header["Accept-Ranges"] = []string{"none"}
	if x.head == nil {
		return http.StatusOK
	}
	if x.head.Status == http.StatusNotModified {
		delete(header, "Content-Type")
	}
	for name, value := range x.head.Header {
		header[name] = []string{value}
	}
	return x.head.Status
}
