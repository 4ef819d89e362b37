package bind

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/validate"
)

// Body is the source of a [Fault] that is not in a parameter.
const Body route.Source = "body"

// The rules of faults, in FieldError.Rule.
const (
	RuleKind     = "kind"     // not of the parameter's kind, which is FieldError.Param
	RuleUTF8     = "utf8"     // not valid UTF-8
	RuleEscape   = "escape"   // a "%" without two hexadecimal digits
	RuleOnce     = "once"     // given more than once, and not a list
	RuleRequired = "required" // absent
	RuleUnknown  = "unknown"  // a query parameter that the route does not have
	RuleLimit    = "limit"    // more than FieldError.Param parameters in the query
	RuleObject   = "object"   // a body that is no JSON object
	RuleForm     = "form"     // a body that is no form
	RuleNoBody   = "nobody"   // a body where the method has none
	RuleMore     = "more"     // the last entry of a list that was cut; FieldError.Param is the number of further ones
)

// Fault describes what is wrong with one part of a request. As JSON it is a validate.FieldError with the members "in" and
// "name".
type Fault struct {
	In   route.Source `json:"in"`
	Name string       `json:"name,omitempty"` // of the parameter; "" for the body and the query as a whole
	// FieldError has the field of the input in Path and Pointer, "" where there is none. Value is the text that was given,
	// cut after 256 bytes; of headers, cookies and fields tagged `sabir:"secret"` it is "***".
	validate.FieldError
}

// Error describes where the fault is, and what it is.
func (f Fault) Error() string {
	switch {
	case f.Rule == RuleMore:
		return f.Message
	case f.In == Body:
		return "the body " + f.Message
	case f.Name == "":
		return "the " + string(f.In) + " " + f.Message
	}
	return "the " + string(f.In) + " parameter " + f.Name + " " + f.Message
}

// Errors lists the faults of one request, in the order path, query, headers, cookies, body. A list longer than 100 is cut; its
// last entry then gives the number of the others.
type Errors []Fault

// Error lists all faults.
func (e Errors) Error() string {
	var b strings.Builder
	b.WriteString("bad request: ")
	for i := range e {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(e[i].Error())
	}
	return b.String()
}

const (
	maxFaults   = 100
	maxValue    = 256 // bytes of a value that is repeated
	maxName     = 64  // bytes of an unknown parameter's name that is repeated
	hiddenValue = "***"
)

// faults collects what is wrong with one request.
type faults struct {
	list Errors
	more int
}

func (f *faults) add(one Fault) {
	if len(f.list) == maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, one)
}

// field adds a fault of a parameter. text is its value as far as it could be decoded.
func (f *faults) field(b *field, rule, param, message, text string) {
	fault := Fault{In: b.In, Name: b.Name, FieldError: validate.FieldError{
		Path: b.Field, Pointer: b.pointer, Rule: rule, Param: param, Message: message}}
	switch {
	case rule == RuleRequired:
	case b.Secret || b.In == route.Header || b.In == route.Cookie:
		fault.Value = hiddenValue
	default:
		fault.Value = shown(text, maxValue)
	}
	f.add(fault)
}

func (f *faults) other(in route.Source, name, rule, param, message string) {
	f.add(Fault{In: in, Name: name, FieldError: validate.FieldError{Rule: rule, Param: param, Message: message}})
}

// err is nil where nothing is wrong.
func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	if f.more > 0 {
		more := strconv.Itoa(f.more)
		f.list = append(f.list, Fault{FieldError: validate.FieldError{Rule: RuleMore, Param: more, Message: more + " more parts are wrong"}})
	}
	return f.list
}

// shown is a copy of a text that may be returned to the sender.
func shown(text string, most int) string {
	if len(text) <= most {
		return strings.ToValidUTF8(strings.Clone(text), "\uFFFD")
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "\uFFFD") + "…"
}
