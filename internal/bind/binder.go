package bind

import (
	"strings"
	"unsafe"

	"github.com/sabir-go/sabir/internal/layout"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/web/exchange"
)

// MaxPairs is the most parameters that a query may have.
const MaxPairs = 256

// Binder makes the input of an action, as JSON, of the requests of one route. It does not change, and serves any number of
// goroutines at once.
//
//   - Integers and numbers are written as JSON has them: "7" and "-1.5e3", not "+7", "007" or "0x7". Bools are "true" and
//     "false". All else is text, which must be valid UTF-8. Whether a number fits the field is for the decoder to check.
//   - A query is pairs between "&" (WHATWG URL, section 5.1, but strict): "+" is a space, escapes must be right, and there are
//     at most 256 pairs. A parameter that is no list is given once. Parameters that the route does not have are passed over,
//     or refused by [RefuseUnknown]; the values of those passed over are not looked at.
//   - A header that is a list may have several lines, and several values between commas in each. Others have one line.
//   - Of cookies with one name the first counts, and one without a value is absent. Their values are taken as they are,
//     without decoding.
//   - The body of POST, PUT and PATCH is a JSON object, or empty. It must not have the fields that come from elsewhere:
//     decoding, which refuses a name that is there twice, refuses them too. So that this holds also for a parameter that is
//     absent, it is written as null where there is a body.
//   - Where the route takes forms, the body may be one, and has the route's fields of forms then: see [Binder.TakesForm].
//   - With GET, HEAD and DELETE there must be no body.
type Binder struct {
	method  string
	path    []field
	query   []field
	headers []field
	cookies []field
	places  map[string]int // of query, by name, where these are many
	body    bool           // the method has one
	plain   bool           // the body is all there is
	open    bool
	refuse  bool    // unknown parameters of the query
	form    *Binder // whose query is what a form has; nil for a route that takes none
}

// field is a parameter, prepared.
type field struct {
	route.Param
	key     string // the field's name in quotes, with a comma before it and a colon behind
	pointer string // the field as a JSON Pointer
	form    form   // of Kind
}

// Option changes what a Binder does.
type Option func(*Binder)

// RefuseUnknown makes parameters of the query that the route does not have an error.
func RefuseUnknown() Option { return func(b *Binder) { b.refuse = true } }

// fewNames is up to how many parameters a list of them is looked through faster than a map.
const fewNames = 8

// New makes the Binder of a route that [route.New] made, here or on the node that offers it.
func New(r route.Route, options ...Option) *Binder {
	b := &Binder{method: r.Method, open: r.Open, body: r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH"}
	for _, p := range r.Params {
		f := field{Param: p, key: key(p.Field), pointer: "/" + layout.Escape(p.Field), form: forms[p.Kind]}
		switch p.In {
		case route.Path:
			b.path = append(b.path, f)
		case route.Query, route.Form:
			b.query = append(b.query, f)
		case route.Header:
			b.headers = append(b.headers, f)
		case route.Cookie:
			b.cookies = append(b.cookies, f)
		}
	}
	if len(b.query) > fewNames {
		b.places = make(map[string]int, len(b.query))
		for i := range b.query {
			b.places[b.query[i].Name] = i
		}
	}
	for _, option := range options {
		option(b)
	}
	b.plain = b.body && len(r.Params) == 0
	if len(r.Form) > 0 {
		b.form = New(route.Route{Params: r.Form}, options...)
	}
	return b
}

// key is the name of a member in JSON, with what stands around it.
func key(name string) string {
	text, _ := appendText([]byte{','}, strings.ToValidUTF8(name, "\uFFFD"))
	return string(append(text, ':'))
}

// Append makes the input of x.Params, x.Query, x.Header and x.Body, and appends it to dst. It allocates nothing where dst
// has space and nothing is wrong. Where the body is all there is, it is appended as it is, also an empty one. Otherwise the body's members
// stand behind the others; whether they are JSON is for the decoder to check.
//
// The error is of the type [Errors], and has all that is wrong with the request; dst comes back as it was then.
func (b *Binder) Append(dst []byte, x *exchange.Exchange) (out []byte, err error) {
	var wrong faults
	kind := b.formKind(x)
	if b.plain && kind == "" {
		if b.refuse && x.Query != "" {
			b.appendQuery(nil, x.Query, nil, &wrong)
		}
		if wrong.list != nil {
			return dst, wrong.err()
		}
		return append(dst, x.Body...), nil // not the body itself: callers keep dst for another request
	}
	start := len(dst)
	out = b.appendPath(dst, x.Params, &wrong)
	var buffer [MaxPairs / 64]uint64
	seen := bits(buffer[:])
	if len(b.query) > MaxPairs { // no route made here has as many
		seen = make(bits, len(b.query)/64+1)
	}
	if x.Query != "" && (len(b.query) > 0 || b.refuse || b.open) {
		out = b.appendQuery(out, x.Query, seen, &wrong)
	}
	inner := members(x.Body)
	if kind != "" {
		inner, out = nil, b.form.appendForm(out, kind, x, &wrong)
	}
	absent := b.body && inner != nil
	for i := range b.query {
		if !seen.has(i) {
			out = b.query[i].absent(out, absent, &wrong)
		}
	}
	for i := range b.headers {
		out = b.headers[i].appendHeader(out, &x.Header, absent, &wrong)
	}
	for i := range b.cookies {
		f := &b.cookies[i]
		if text := x.Cookie(f.Name); text != "" {
			out = f.append(append(out, f.key...), text, false, &wrong)
		} else {
			out = f.absent(out, absent, &wrong)
		}
	}
	switch {
	case inner == nil && b.body && kind == "" && !blank(x.Body):
		wrong.other(Body, "", RuleObject, "", "must be a JSON object")
	case !b.body && len(x.Body) > 0:
		wrong.other(Body, "", RuleNoBody, "", "must be empty with "+b.method+": all fields come from elsewhere")
	}
	if wrong.list != nil {
		return dst, wrong.err()
	}
	return object(out, start, inner), nil
}

// appendPath writes the parameters of the path, which the router decoded.
func (b *Binder) appendPath(dst []byte, values []string, wrong *faults) []byte {
	for i := range b.path {
		f := &b.path[i]
		if i >= len(values) { // the router found another route than this one
			wrong.field(f, RuleRequired, "", "is required", "")
			continue
		}
		dst = f.append(append(dst, f.key...), values[i], false, wrong)
	}
	return dst
}

// appendHeader writes the parameter of a header.
func (f *field) appendHeader(dst []byte, h *exchange.Header, absent bool, wrong *faults) []byte {
	lines := 0
	for line := range h.All(f.Name) {
		lines++
		switch {
		case f.List && lines == 1:
			dst = f.appendElements(append(append(dst, f.key...), '['), line, wrong)
		case f.List:
			dst = f.appendElements(dst, line, wrong)
		case lines == 1:
			dst = f.append(append(dst, f.key...), strings.Trim(line, " \t"), false, wrong)
		case lines == 2:
			wrong.field(f, RuleOnce, "", "is given more than once", line)
		}
	}
	switch {
	case lines == 0:
		return f.absent(dst, absent, wrong)
	case f.List:
		return closeList(dst)
	}
	return dst
}

// appendElements writes the values of one line of a header that is a list. Empty ones mean nothing (RFC 9110, section 5.6.1).
func (f *field) appendElements(dst []byte, line string, wrong *faults) []byte {
	for line != "" {
		var element string
		element, line, _ = strings.Cut(line, ",")
		if element = strings.Trim(element, " \t"); element != "" {
			dst = append(f.append(dst, element, false, wrong), ',')
		}
	}
	return dst
}

// closeList ends an array that has a comma behind each element.
func closeList(dst []byte) []byte {
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, ']')
}

// absent treats a parameter that is not there. With null it writes null, so that the body cannot set the field.
func (f *field) absent(dst []byte, null bool, wrong *faults) []byte {
	if f.Required {
		wrong.field(f, RuleRequired, "", "is required", "")
	}
	if null {
		dst = append(append(dst, f.key...), "null"...)
	}
	return dst
}

// append writes one value. escaped is for text of a query.
func (f *field) append(dst []byte, text string, escaped bool, wrong *faults) []byte {
	start := len(dst)
	if escaped && hasEscape(text) {
		var ok bool
		if dst, ok = appendDecoded(dst, text, true); !ok {
			wrong.field(f, RuleEscape, "", `has a "%" without two hexadecimal digits behind it`, text)
			return dst[:start]
		}
		text = view(dst[start:]) // what is appended behind it leaves it as it is
	}
	from := len(dst)
	dst, rule := appendValue(dst, f.form, text)
	switch rule {
	case RuleKind:
		wrong.field(f, rule, string(f.Kind), wants[f.Kind], text)
	case RuleUTF8:
		wrong.field(f, rule, "", "must be valid UTF-8", text)
	}
	if from > start { // the decoded text is in the way
		dst = dst[:start+copy(dst[start:], dst[from:])]
	}
	return dst
}

var wants = map[route.Kind]string{route.Integer: "must be an integer", route.Number: "must be a number", route.Boolean: "must be true or false"}

func hasEscape(s string) bool {
	for i := range len(s) {
		if s[i] == '%' || s[i] == '+' {
			return true
		}
	}
	return false
}

// view is b as a string, for as long as b does not change.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bits is a set of small numbers.
type bits []uint64

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) add(i int)      { b[i/64] |= 1 << (i % 64) }
