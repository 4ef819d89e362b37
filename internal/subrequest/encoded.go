package subrequest

import (
	"net/http"
	"strings"
)

// Compressed says why a door refuses a body that is encoded: doors take bodies as they are, and unpack none.
const Compressed = "the body is compressed: send it as it is"

// Encoded reports whether the body of a request is compressed, or encoded in another way.
func Encoded(h http.Header) bool {
	encoding := h.Get("Content-Encoding")
	return encoding != "" && !strings.EqualFold(encoding, "identity")
}
