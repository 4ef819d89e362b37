package webhook

import (
	"net/http"
	"testing"
	"time"
)

// Signed is the headers of a signature.
func Signed(t testing.TB, secret, id string, at time.Time, body []byte) http.Header {
	t.Helper()
	keys, err := keysOf([]string{secret})
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	signed(h, keys, id, at, body)
	return h
}

// ReadEvents is readEvents, for fuzz tests.
var ReadEvents = readEvents

// WriteEvents is writeEvents.
var WriteEvents = writeEvents
