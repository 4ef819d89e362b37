// Package filehead is how the handler of a download says to the gateway what the answer of HTTP is, on whichever node it runs: the gateway
// puts a key that nobody can guess into the metadata of the call, and the first value of the stream is that key and the head.
// Handlers that do not know of it send bytes, which never begin with the key.
package filehead

import (
	"bytes"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/sabir-go/sabir/internal/answer"
)

// metadataKey is the key of the metadata with the key and the method.
const metadataKey = "download-head"

// maxHead bounds the bytes of a head.
const maxHead = 8 << 10

// Conditions are the headers of requests that are handed on as metadata, by their names in lower case.
var Conditions = []string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"}

// maxCondition bounds the bytes of such a header; a longer one is left out.
const maxCondition = 1 << 10

// Headers are those that a head may set.
var Headers = []string{"Content-Type", "Content-Length", "Content-Range", "Content-Disposition", "Etag", "Last-Modified", "Accept-Ranges"}

// Head is the head of an answer.
type Head struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
}

// Ask returns the metadata that asks for a head, for a request by GET or HEAD, and the key that the head begins with.
func Ask(r *http.Request) (key string, metadata map[string]string) {
	key = "head-" + rand.Text()
	metadata = map[string]string{metadataKey: key + " " + r.Method}
	for _, name := range Conditions {
		if value := strings.Join(r.Header.Values(name), ", "); value != "" && len(value) <= maxCondition && answer.CheckHeader(name, value) == nil {
			metadata[strings.ToLower(name)] = value
		}
	}
	return key, metadata
}

// Wanted returns the key and the method of a call that wants a head; "" for one that wants none.
func Wanted(metadata map[string]string) (key, method string) {
	key, method, _ = strings.Cut(metadata[metadataKey], " ")
	if !strings.HasPrefix(key, "head-") || method != http.MethodGet && method != http.MethodHead {
		return "", ""
	}
	return key, method
}

var errHead = errors.New("the head of the download cannot be read")

// Read reads the first value of a stream. is is false for one that begins with content. What a head says was decided on another node
// perhaps, so it is checked.
func Read(value []byte, key string) (head *Head, is bool, err error) {
	text, is := bytes.CutPrefix(value, []byte(key))
	if !is {
		return nil, false, nil
	}
	head = new(Head)
	if len(text) > maxHead || jsonv2.Unmarshal(text, head) != nil || !slices.Contains(statuses, head.Status) {
		return nil, true, errHead
	}
	for name, value := range head.Header {
		if !slices.Contains(Headers, name) || answer.CheckHeader(name, value) != nil {
			return nil, true, errHead
		}
	}
	return head, true, nil
}

// statuses are those that a server of files answers with.
var statuses = []int{http.StatusOK, http.StatusPartialContent, http.StatusNotModified, http.StatusPreconditionFailed,
	http.StatusRequestedRangeNotSatisfiable, http.StatusInternalServerError}
