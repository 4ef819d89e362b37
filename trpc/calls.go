package trpc

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/sabir-go/sabir/internal/api"
)

// The bounds of a batch, which are those of batches elsewhere over HTTP.
const (
	maxBatch   = 100 // calls
	batchWidth = 16  // of them at once
)

// call is one call of a request.
type call struct {
	path   string      // the procedure's name, as the client wrote it
	action *api.Action // nil for one that there is not
	input  []byte      // JSON; nil for none

	superjson bool   // the answer is wrapped for the client's transformer
	refused   *shape // why the input cannot be read; nil where it can
}

// calls are those of one request.
type calls struct {
	batch    bool
	streamed bool // the answers come one by one, as lines of JSON
	list     []call

	superjson bool // the client has the transformer superjson
}

// read reads the calls of a request.
func (s *server) read(w http.ResponseWriter, r *http.Request) (*calls, *shape) {
	values := r.URL.Query()
	c := &calls{batch: values.Get("batch") == "1", streamed: wantsLines(r.Header)}
	input := []byte(values.Get("input"))
	if r.Method == http.MethodPost {
		body, failed := s.body(w, r)
		if failed != nil {
			return nil, failed
		}
		media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if len(body) > 0 && (err != nil || media != "application/json") {
			return nil, failure(http.StatusUnsupportedMediaType, "UnsupportedMediaType",
				"an input is JSON, with bytes in base64: send a FormData, a File or bytes to the address that the action has over HTTP")
		}
		input = body
	}
	if len(input) > 0 && !json.Valid(input) {
		return nil, failure(http.StatusBadRequest, "BadInput", "the input is not JSON")
	}
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, s.site.Prefix), "/")
	if !c.batch {
		c.list = []call{s.call(path, input)}
		s.readSuperjson(c)
		return c, nil
	}
	paths := strings.SplitN(path, ",", maxBatch+1)
	if len(paths) > maxBatch {
		return nil, failure(http.StatusBadRequest, "InputTooLarge", "a batch has at most "+strconv.Itoa(maxBatch)+" calls: give the client's link maxItems: "+strconv.Itoa(maxBatch))
	}
	var inputs map[string]json.RawMessage
	if len(input) > 0 {
		if err := jsonv2.Unmarshal(input, &inputs); err != nil { // which refuses a name that is there twice, as inputs elsewhere do
			return nil, failure(http.StatusBadRequest, "BadInput", `the input of a batch is an object with the members "0", "1" and so on, each once`)
		}
	}
	for i, path := range paths {
		c.list = append(c.list, s.call(path, inputs[strconv.Itoa(i)]))
	}
	s.readSuperjson(c)
	return c, nil
}

func (s *server) call(path string, input []byte) call {
	return call{path: path, action: s.procedure(path), input: input}
}

// wantsLines reports whether the client reads the answers of a batch one by one.
func wantsLines(h http.Header) bool {
	const lines = "application/jsonl"
	if given := h.Get("Trpc-Accept"); given != "" {
		return given == lines
	}
	for media := range strings.SplitSeq(h.Get("Accept"), ",") {
		if strings.TrimSpace(media) == lines {
			return true
		}
	}
	return false
}

// allowed returns why the call cannot be made by a request with the method; nil where it can. Queries take POST too, for inputs that are too long for an
// address (methodOverride of the client's links).
func (c *call) allowed(method string, batch bool) *shape {
	switch {
	case c.action == nil:
		return failure(http.StatusNotFound, "ActionNotFound", "no procedure is called "+strconv.QuoteToGraphic(short(c.path))).at(c.path)
	case c.action.Procedure() == api.Mutation && method != http.MethodPost:
		return failure(http.StatusMethodNotAllowed, "MethodNotAllowed", c.action.Name+" is a mutation: use POST").at(c.path)
	case c.action.Procedure() == api.Subscription && batch:
		return failure(http.StatusBadRequest, "StreamWanted", c.action.Name+" is a subscription, which no batch can hold").at(c.path)
	}
	return c.refused
}

// short is a name of the client's, bounded for a message.
func short(name string) string {
	if len(name) > 200 {
		return name[:200]
	}
	return name
}
