package httpstream

import (
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/introspect"
)

// form is the format of a response.
type form uint8

// The forms, in the order of preference where a caller takes several equally.
const (
	sse form = iota
	ndjson
	octets
	single // one JSON document
)

var formTypes = [...]string{sse: "text/event-stream", ndjson: "application/x-ndjson", octets: "application/octet-stream", single: "application/json"}

// responseForm chooses by the Accept header (RFC 9110, section 12.5.1). A caller that names none of the forms gets the
// usual one, whatever else it names: there is nothing better to give it.
func responseForm(accept []string, usual form) form {
	chosen, quality := usual, 0.0
	for _, line := range accept {
		for part := range strings.SplitSeq(line, ",") {
			kind, parameters, _ := strings.Cut(part, ";")
			f, ok := formOf(strings.ToLower(strings.TrimSpace(kind)))
			if !ok || f == octets && usual != octets {
				continue
			}
			if q := qualityOf(parameters); q > quality || q == quality && q > 0 && f < chosen {
				chosen, quality = f, q
			}
		}
	}
	return chosen
}

// usualForm is the form of answers to callers that ask for none: bytes as they are, the only value of a client stream as one
// document, and the values of any other stream in lines.
func (x *session) usualForm() form {
	switch {
	case x.bytesOut:
		return octets
	case x.call.Action != nil && x.call.Action.Shape == introspect.ClientStream:
		return single
	}
	return ndjson
}

// takesAny reports whether a caller takes a form that it does not name. axios and Angular say so beside application/json, unless told
// otherwise.
func takesAny(accept []string) bool {
	for _, line := range accept {
		for part := range strings.SplitSeq(line, ",") {
			kind, parameters, _ := strings.Cut(part, ";")
			if kind = strings.TrimSpace(kind); (kind == "*/*" || strings.EqualFold(kind, "application/*")) && qualityOf(parameters) > 0 {
				return true
			}
		}
	}
	return false
}

func formOf(kind string) (form, bool) {
	if kind == "application/ndjson" {
		return ndjson, true
	}
	for f, t := range formTypes {
		if t == kind {
			return form(f), true
		}
	}
	return 0, false
}

// qualityOf is the weight among the parameters of a media range: 1 where none is given, 0 for one that cannot be read.
func qualityOf(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		q, err := strconv.ParseFloat(value, 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}

var bytesType = reflect.TypeFor[[]byte]()

// bytesOf reports whether values of the type go as they are; nil is the type of another node's action, which refuses what does
// not fit.
func bytesOf(t reflect.Type, asked bool) bool { return t == bytesType || t == nil && asked }

// uploads reports whether the request brings a file.
func uploads(r *http.Request) bool {
	kind := mediaType(r)
	return kind == "application/octet-stream" || kind == "multipart/form-data"
}

// asksForBytes reports whether the caller wants bytes rather than any of the other forms.
func asksForBytes(r *http.Request) bool {
	accept := r.Header["Accept"]
	return strings.Contains(strings.ToLower(strings.Join(accept, ",")), formTypes[octets]) && responseForm(accept, octets) == octets
}

// mediaType is the body's, without parameters; "" for none or one that cannot be read.
func mediaType(r *http.Request) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
