package bind

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/web/exchange"
)

// The types of bodies that are forms.
const (
	urlencoded = "application/x-www-form-urlencoded" // WHATWG URL, section 5
	multiparts = "multipart/form-data"               // RFC 7578
)

// TakesForm reports whether the body is a form and the route takes one:
//
//   - application/x-www-form-urlencoded is read as a query is.
//   - multipart/form-data has a part for each value. What a part with a file name holds becomes base64, as a []byte has it.
//   - Fields of the form that the route does not have are passed over, or refused by [RefuseUnknown].
func (b *Binder) TakesForm(x *exchange.Exchange) bool { return b.formKind(x) != "" }

// formKind is the Content-Type of a body that is a form; "" for any other, and where the route takes none.
func (b *Binder) formKind(x *exchange.Exchange) string {
	if b.form == nil {
		return ""
	}
	given := x.Header.Get("Content-Type")
	kind, parameters, err := mime.ParseMediaType(given)
	if err != nil || kind != urlencoded && kind != multiparts {
		return ""
	}
	if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return ""
	}
	return given
}

// appendForm writes the fields of a form. b is the binder of these.
func (b *Binder) appendForm(dst []byte, kind string, x *exchange.Exchange, wrong *faults) []byte {
	text := view(x.Body)
	if name, parameters, _ := mime.ParseMediaType(kind); name == multiparts {
		pairs, err := pairsOf(multipart.NewReader(bytes.NewReader(x.Body), parameters["boundary"]))
		if err != nil {
			wrong.other(route.Form, "", RuleForm, "", "is no multipart form: "+err.Error())
			return dst
		}
		text = pairs
	}
	seen, before := make(bits, len(b.query)/64+1), len(wrong.list)
	dst = b.appendQuery(dst, text, seen, wrong)
	for i := range b.query {
		if !seen.has(i) {
			dst = b.query[i].absent(dst, false, wrong)
		}
	}
	for i := range wrong.list[before:] {
		wrong.list[before+i].In = route.Form
	}
	return dst
}

// pairsOf is a multipart form in the form of a query. Its bytes are bounded by the body, its parts by the most pairs of a query.
func pairsOf(form *multipart.Reader) (string, error) {
	var query strings.Builder
	for n := 0; ; n++ {
		part, err := form.NextPart()
		if err == io.EOF {
			return query.String(), nil
		}
		if err != nil {
			return "", errors.New("its parts cannot be told apart")
		}
		if n == MaxPairs {
			return "", errors.New("it has more than " + strconv.Itoa(MaxPairs) + " parts")
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return "", errors.New("a part ends early")
		}
		if part.FileName() != "" {
			value = base64.StdEncoding.AppendEncode(nil, value)
		}
		if n > 0 {
			query.WriteByte('&')
		}
		query.WriteString(url.QueryEscape(part.FormName()) + "=" + url.QueryEscape(string(value)))
	}
}
