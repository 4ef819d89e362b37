package web

import (
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bind"
	"github.com/sabir-go/sabir/validate"
)

// sources adds, in an error about the input of a REST form, which parts of the request the fields came from.
func (t *target) sources(e *sabir.Error) *sabir.Error {
	switch data := e.Data.(type) {
	case validate.Errors:
		faults := make([]bind.Fault, len(data))
		for i, field := range data {
			faults[i] = bind.Fault{In: bind.Body, FieldError: field}
			if in, name, ok := t.binder.Locate(field.Pointer); ok {
				faults[i].In, faults[i].Name = in, name
			}
		}
		return e.WithData(faults)
	case map[string]any:
		pointer, _ := data["pointer"].(string)
		if text := t.binder.Explain(pointer); text != "" {
			c := *e
			c.Message += ": " + text
			return &c
		}
	}
	return e
}
