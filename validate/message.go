package validate

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/library"
	"github.com/sabir-go/sabir/internal/tag"
)

// message makes the text for a failed field.
type message = func(library.Failure) string

// SetMessage sets the message for a rule. In text, {0} stands for the field's name and {1} for the rule's parameter,
// as in the library's translations: SetMessage("max", "{0} is longer than {1}").
func (v *Validator) SetMessage(rule, text string) error {
	if rule == "" || text == "" {
		return errors.New("validate: a message needs the name of its rule and a text")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.messages[rule] = func(fe library.Failure) string {
		return strings.NewReplacer("{0}", fe.Field(), "{1}", fe.Param()).Replace(text)
	}
	v.forget()
	return nil
}

// message is the text for a failed field: the user's, else the language's, else one that names the rule.
func (e *engine) message(fe library.Failure) string {
	if m, ok := e.messages[fe.Tag()]; ok {
		return m(fe)
	}
	if m, ok := e.messages[fe.ActualTag()]; ok {
		return m(fe)
	}
	if translatable(fe) {
		if text := e.translate(fe); text != "" {
			return text
		}
	}
	rule := fe.Tag()
	if fe.Param() != "" {
		rule += "=" + fe.Param()
	}
	return fe.Field() + " does not satisfy the rule " + rule
}

// translate puts a failure into the words of the language; "" where it has none for the rule.
func (e *engine) translate(fe library.Failure) string {
	if e.lib == nil {
		return english(fe)
	}
	text := e.lib.Translate(fe)
	if strings.HasPrefix(text, "Key: '") { // the library's own text for "no translation"
		return ""
	}
	return text
}

// translatable reports whether the library's translations can put a failure into words. Where they cannot they print
// a warning with the field's value: for an alias, whose name they do not know, and for a comparison whose parameter
// is not a decimal number, such as the "5s" of a duration.
func translatable(fe library.Failure) bool {
	if fe.Tag() != fe.ActualTag() {
		return tag.Alias(fe.Tag())
	}
	switch fe.Tag() {
	case "len", "min", "max", "gt", "gte", "lt", "lte":
		if fe.Kind() == reflect.Struct {
			return fe.Type() == timeType // compared with the time of the check
		}
		_, err := strconv.ParseFloat(fe.Param(), 64)
		return err == nil
	}
	return true
}
