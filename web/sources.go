package web

import (
	"maps"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bind"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/validate"
)

// sources adds, in an error about the input of a REST form, which parts of the request the fields came from.
func (t *target) sources(e *sabir.Error) *sabir.Error {
	switch data := e.Data.(type) {
	case validate.Errors:
		faults := make([]bind.Fault, len(data))
		for i, field := range data {
			faults[i] = bind.Fault{FieldError: field}
			faults[i].In, faults[i].Name = t.source(field.Pointer)
		}
		return e.WithData(faults)
	case []any: // the same from another node
		if e.Name == sabir.ErrValidationFailed.Name {
			return e.WithData(t.remoteFaults(data))
		}
	case map[string]any:
		pointer, _ := data["pointer"].(string)
		if t.binder == nil || e.Name != sabir.ErrBadInput.Name {
			return e
		}
		if !strings.Contains(e.Message, ": the object has this name twice") {
			return t.badParameter(e, pointer, data)
		}
		if text := t.binder.Explain(pointer); text != "" {
			c := *e
			c.Message += ": " + text
			return &c
		}
	}
	return e
}

// badParameter is the error for a parameter whose text the field's type cannot be made of, which shows as its input is read. Of the body it is e.
func (t *target) badParameter(e *sabir.Error, pointer string, data map[string]any) *sabir.Error {
	in, name, ok := t.binder.Locate(pointer)
	if !ok {
		return e
	}
	message := "cannot be read"
	if _, why, found := strings.Cut(e.Message, " at "+pointer+": "); found { // before it stands JSON, which the caller did not send
		why, _, _ = strings.Cut(why, " (offset ")
		message += ": " + why
	}
	path, index, inList := strings.Cut(pointer[1:], "/")
	path = unescape.Replace(path)
	if inList {
		path += "[" + index + "]"
	}
	want, _ := data["want"].(string)
	return badParameters(bind.Errors{{In: in, Name: name, FieldError: validate.FieldError{
		Path: path, Pointer: pointer, Rule: bind.RuleKind, Param: want, Message: message}}})
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// source is the part of the request, and the parameter there, that a place in the input came from.
func (t *target) source(pointer string) (in route.Source, name string) {
	if t.binder != nil {
		if in, name, ok := t.binder.Locate(pointer); ok {
			return in, name
		}
	}
	return bind.Body, ""
}

// remoteFaults are the fields that another node lists, with where they came from. What has no pointer stays as it is.
func (t *target) remoteFaults(list []any) []any {
	faults := make([]any, len(list))
	for i, one := range list {
		faults[i] = one
		field, _ := one.(map[string]any)
		pointer, ok := field["pointer"].(string)
		if !ok {
			continue
		}
		fault := maps.Clone(field)
		in, name := t.source(pointer)
		if fault["in"] = in; name != "" {
			fault["name"] = name
		}
		faults[i] = fault
	}
	return faults
}
