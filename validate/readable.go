package validate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sabir-go/sabir/internal/library"
	"github.com/sabir-go/sabir/internal/tag"
)

// readable refuses the parts of a tag that this package cannot compile, with the library's words where the library would refuse
// them too. It is for programs that do not link the library.
func (c *compiler) readable(items []tag.Item) error {
	for i := 0; i < len(items); i++ {
		switch item := items[i].Text; item {
		case "dive", "omitempty", "omitnil", "omitzero", "structonly", "nostructlevel":
		case "keys":
			if i == 0 || items[i-1].Text != "dive" {
				return errors.New("'keys' tag must be immediately preceded by the 'dive' tag")
			}
			first := i + 1
			for i++; i < len(items) && items[i].Text != "endkeys"; i++ {
			}
			if i == len(items) && i == first {
				return errors.New("'keys' tag encountered without a rule or 'endkeys' tag")
			}
			if err := c.readable(items[first:i]); err != nil {
				return err
			}
		case "endkeys":
			return errors.New("'endkeys' tag encountered without a corresponding 'keys' tag")
		default:
			for alternative := range strings.SplitSeq(item, "|") {
				name, _, _ := strings.Cut(alternative, "=")
				if err := c.readableRule(name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *compiler) readableRule(name string) error {
	switch {
	case compiled(name):
		return nil
	case name == "":
		return errors.New("the tag has an empty rule")
	case c.words.aliases[name] != "":
		return fmt.Errorf("the alias %q in an alternative or with a parameter needs the library of all rules: add %s", name, library.Import)
	case tag.Known(name):
		return fmt.Errorf("rule %q needs the library of all rules: add %s", name, library.Import)
	}
	return fmt.Errorf("no rule is called %q", name)
}

// compiled reports whether this package has a rule, for some types at least.
func compiled(rule string) bool {
	switch rule {
	case "required", "isdefault", "min", "gte", "max", "lte", "gt", "lt", "len", "eq", "ne", "oneof", "noneof", "number", "numeric", "boolean",
		"port", "unique":
		return true
	}
	return textRules[rule] != nil || textParamRules[rule] != nil
}
