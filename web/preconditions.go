package web

import (
	"net/http"

	"github.com/sabir-go/sabir/internal/etag"
	"github.com/sabir-go/sabir/web/rest"
)

// usePreconditions answers GET and HEAD by the ETag that the handler has set (RFC 9110, section 13.2.2): with 304 to a caller that has this
// version, with 412 to one that wants another. Preconditions of other methods are the handler's to check, before it changes something.
func (rc *requestContext) usePreconditions() error {
	if rc.Method != http.MethodGet && rc.Method != http.MethodHead || rc.Status != 0 && rc.Status != http.StatusOK {
		return nil
	}
	tag := rc.Answer.Get("ETag")
	if tag == "" {
		return nil
	}
	if rc.Header.Has("If-Match") && !rc.names("If-Match", tag, true) {
		e := *rest.ErrVersionMismatch
		e.Node = rc.node.ID()
		return &e
	}
	if rc.names("If-None-Match", tag, false) {
		rc.Status, rc.Type, rc.Out = http.StatusNotModified, "", rc.Out[:0]
	}
	return nil
}

// names reports whether one of the request's headers of the name has the tag.
func (rc *requestContext) names(header, tag string, strong bool) bool {
	for line := range rc.Header.All(header) {
		if etag.Matches(line, tag, strong) {
			return true
		}
	}
	return false
}
