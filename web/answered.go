package web

import (
	"net/http"
	"strings"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web/exchange"
)

// useStatus gives the answer of a call that went well the action's usual status, where neither the handler nor a filter chose another, and
// no body where the status forbids one (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5).
func (rc *requestContext) useStatus() {
	if all := rc.to.action.Statuses; rc.Status == 0 && len(all) > 0 {
		rc.Status = all[0].Status
	}
	switch rc.Status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusNotModified:
		rc.Out, rc.Type = rc.Out[:0], ""
	}
}

// answered is the exchange of a call, as what takes what its handler answers beside the output.
type answered exchange.Exchange

var _ gateway.Answer = (*answered)(nil)

// SetStatus implements [gateway.Answer].
func (x *answered) SetStatus(status int) error {
	x.Status = status
	return nil
}

// SetHeader implements [gateway.Answer]. What frames the answer, or is the server's to say, is left out.
func (x *answered) SetHeader(name, value string) error {
	switch {
	case framing(name):
	case strings.EqualFold(name, "Set-Cookie"), strings.EqualFold(name, "Vary"): // filters may have set others
		x.Answer.Add(name, value)
	default:
		x.Answer.Set(name, value)
	}
	return nil
}

// SetTrailer implements [gateway.Answer]: the whole answer is there before its head is sent, so a header does.
func (x *answered) SetTrailer(name, value string) error { return x.SetHeader(name, value) }

// framing reports whether a handler cannot set the header of its answer.
func framing(name string) bool {
	switch strings.ToLower(name) {
	case "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive", "upgrade", "trailer", "te", "date",
		"x-request-id", "x-content-type-options":
		return true
	}
	return false
}
