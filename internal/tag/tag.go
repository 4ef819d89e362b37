// Package tag reads the `validate` tags of github.com/go-playground/validator/v10, and the tag `sabir:"secret"`, for packages
// that need their content: the checks of package validate, the schemas of package schema.
package tag

import (
	"slices"
	"strings"
)

// Kind is the function of a part of a tag. Most parts are rules; the others control how the rules apply.
type Kind uint8

// The kinds.
const (
	Check Kind = iota // one rule, or several joined by "|"
	OmitEmpty
	OmitNil
	OmitZero
	StructOnly
	NoStructLevel
	Dive
	EndKeys
)

// Step is one comma-separated part of a tag.
type Step struct {
	Kind  Kind
	Rules []Rule // of a Check: alternatives
	Keys  []Step // of a Dive: the part between keys and endkeys
	Keyed bool   // whether there was such a part
	Alias string // that the part was written out of; "" for none
}

// Rule is a name with its parameter.
type Rule struct {
	Name, Param string // the parameter with its escapes 0x2C and 0x7C undone
	Raw         string // as written
}

// steering are the parts that are no rules, each at its kind.
var steering = [...]string{OmitEmpty: "omitempty", OmitNil: "omitnil", OmitZero: "omitzero",
	StructOnly: "structonly", NoStructLevel: "nostructlevel", Dive: "dive", EndKeys: "endkeys"}

// String is the part as it is written in a tag; "" for a Check.
func (k Kind) String() string { return steering[k] }

// unescape puts back the characters that a parameter cannot contain as such.
var unescape = strings.NewReplacer("0x2C", ",", "0x7C", "|")

// Parse splits a tag, with aliases written out; they must not contain themselves. "" and "-" have no steps. It does not
// judge: what the library would refuse becomes steps all the same.
func Parse(tag string, aliases map[string]string) []Step {
	if tag == "" || tag == "-" {
		return nil
	}
	return parseItems(Expand(tag, aliases))
}

// Item is a part of a tag between commas.
type Item struct {
	Text  string
	Alias string // that it was written out of, the innermost; "" for none
}

// Expand splits a tag at its commas and replaces every part that is an alias.
func Expand(tag string, aliases map[string]string) []Item { return expand(tag, "", aliases) }

func expand(tag, alias string, aliases map[string]string) []Item {
	var items []Item
	for item := range strings.SplitSeq(tag, ",") {
		if meaning, ok := aliases[item]; ok {
			items = append(items, expand(meaning, item, aliases)...)
		} else {
			items = append(items, Item{item, alias})
		}
	}
	return items
}

func parseItems(items []Item) []Step {
	var steps []Step
	for i := 0; i < len(items); i++ {
		item := items[i].Text
		if item == "keys" && len(steps) > 0 {
			end := i + 1
			for end < len(items) && items[end].Text != "endkeys" {
				end++
			}
			dive := &steps[len(steps)-1]
			dive.Keyed, dive.Keys = true, parseItems(items[i+1:min(end, len(items))])
			i = end
			continue
		}
		if kind := slices.Index(steering[:], item); kind > 0 {
			steps = append(steps, Step{Kind: Kind(kind), Alias: items[i].Alias})
			continue
		}
		s := Step{Kind: Check, Alias: items[i].Alias}
		for raw := range strings.SplitSeq(item, "|") {
			name, param, _ := strings.Cut(raw, "=")
			s.Rules = append(s.Rules, Rule{name, unescape.Replace(param), raw})
		}
		steps = append(steps, s)
	}
	return steps
}

// Required reports whether a tag has the rule "required" for the value itself, not for its elements.
func Required(tag string) bool {
	for _, s := range Parse(tag, nil) {
		if s.Kind == Dive {
			return false
		}
		if len(s.Rules) == 1 && s.Rules[0].Raw == "required" {
			return true
		}
	}
	return false
}

// Secret reports whether a tag `sabir:"…"` has the option "secret": the value is never shown.
func Secret(tag string) bool {
	for option := range strings.SplitSeq(tag, ",") {
		if strings.TrimSpace(option) == "secret" {
			return true
		}
	}
	return false
}

// Words splits a parameter as the rule oneof does: at spaces, except inside single quotes.
func Words(param string) []string {
	const spaces = "\t\n\f\r "
	var list []string
	for param = strings.TrimLeft(param, spaces); param != ""; param = strings.TrimLeft(param, spaces) {
		end := strings.IndexAny(param, spaces)
		if end < 0 {
			end = len(param)
		}
		if closing := strings.IndexByte(param[1:], '\''); param[0] == '\'' && closing >= 0 {
			end = 1 + closing + 1
		}
		list = append(list, strings.ReplaceAll(param[:end], "'", ""))
		param = param[end:]
	}
	return list
}
