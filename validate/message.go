package validate

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-playground/locales"
	ut "github.com/go-playground/universal-translator"
	"github.com/go-playground/validator/v10"

	"github.com/sabir-go/sabir/internal/tag"
)

// message makes the text for a failed field.
type message func(validator.FieldError) string

// SetMessage sets the message for a rule. In text, {0} stands for the field's name and {1} for the rule's parameter,
// as in the library's translations: SetMessage("max", "{0} is longer than {1}").
func (v *Validator) SetMessage(rule, text string) error {
	if rule == "" || text == "" {
		return errors.New("validate: a message needs the name of its rule and a text")
	}
	v.setMessage(rule, func(fe validator.FieldError) string {
		return strings.NewReplacer("{0}", fe.Field(), "{1}", fe.Param()).Replace(text)
	})
	return nil
}

// RegisterTranslation sets the message for a rule through a translator, as the library's method of the same name
// does. A Validator has one language, so the last message given for a rule is the one used, whatever its
// translator.
func (v *Validator) RegisterTranslation(tag string, translator ut.Translator, register validator.RegisterTranslationsFunc, translate validator.TranslationFunc) error {
	if translator == nil || translate == nil {
		return fmt.Errorf("validate: the translation of rule %q has no translator or no function", tag)
	}
	if register != nil {
		if err := register(translator); err != nil {
			return fmt.Errorf("validate: the translation of rule %q: %w", tag, err)
		}
	}
	v.setMessage(tag, func(fe validator.FieldError) string { return translate(translator, fe) })
	return nil
}

// SetLanguage takes the default messages from one of the library's translations packages:
//
//	v.SetLanguage(de.New(), german.RegisterDefaultTranslations)
//
// Messages set with [Validator.SetMessage] and [Validator.RegisterTranslation] stay.
func (v *Validator) SetLanguage(locale locales.Translator, register func(*validator.Validate, ut.Translator) error) error {
	if locale == nil || register == nil {
		return errors.New("validate: a language needs its locale and its messages")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.language
	v.language = language{locale, register}
	v.forget()
	if _, err := v.current(); err != nil {
		v.language = before
		return err
	}
	return nil
}

func (v *Validator) setMessage(rule string, m message) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.messages[rule] = m
	v.forget()
}

// message is the text for a failed field: the user's, else the language's, else one that names the rule.
func (e *engine) message(fe validator.FieldError) string {
	if m, ok := e.messages[fe.Tag()]; ok {
		return m(fe)
	}
	if m, ok := e.messages[fe.ActualTag()]; ok {
		return m(fe)
	}
	if translatable(fe) {
		text := fe.Translate(e.translator)
		if !strings.HasPrefix(text, "Key: '") { // the library's own text for "no translation"
			return text
		}
	}
	rule := fe.Tag()
	if fe.Param() != "" {
		rule += "=" + fe.Param()
	}
	return fe.Field() + " does not satisfy the rule " + rule
}

// translatable reports whether the library's translations can put a failure into words. Where they cannot they print
// a warning with the field's value: for an alias, whose name they do not know, and for a comparison whose parameter
// is not a decimal number, such as the "5s" of a duration.
func translatable(fe validator.FieldError) bool {
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
