package validate

import "strings"

// stepKind is what a part of a tag does. Most parts are rules; the others steer.
type stepKind uint8

const (
	stepRule stepKind = iota // one rule, or several joined by "|"
	stepOmitEmpty
	stepOmitNil
	stepOmitZero
	stepStructOnly
	stepNoStructLevel
	stepDive
	stepEndKeys
)

// step is one comma-separated part of a tag.
type step struct {
	kind  stepKind
	rules []rule // of a stepRule: alternatives
	keys  []step // of a stepDive: the part between keys and endkeys
	keyed bool   // whether there was such a part
}

// rule is a name with its parameter.
type rule struct {
	name, param string
	raw         string // as written
}

var steering = map[string]stepKind{
	"omitempty":     stepOmitEmpty,
	"omitnil":       stepOmitNil,
	"omitzero":      stepOmitZero,
	"structonly":    stepStructOnly,
	"nostructlevel": stepNoStructLevel,
	"dive":          stepDive,
	"endkeys":       stepEndKeys,
}

// unescape puts back the characters that a parameter cannot contain as such.
var unescape = strings.NewReplacer("0x2C", ",", "0x7C", "|")

// parseTag splits a tag that the library has accepted, with aliases written out.
func parseTag(tag string, aliases map[string]string) []step {
	return parseItems(expand(tag, aliases))
}

// expand splits a tag at its commas and replaces every part that is an alias.
func expand(tag string, aliases map[string]string) []string {
	var items []string
	for item := range strings.SplitSeq(tag, ",") {
		if meaning, ok := aliases[item]; ok {
			items = append(items, expand(meaning, aliases)...)
		} else {
			items = append(items, item)
		}
	}
	return items
}

func parseItems(items []string) []step {
	var steps []step
	for i := 0; i < len(items); i++ {
		item := items[i]
		if item == "keys" && len(steps) > 0 {
			end := i + 1
			for end < len(items) && items[end] != "endkeys" {
				end++
			}
			dive := &steps[len(steps)-1]
			dive.keyed, dive.keys = true, parseItems(items[i+1:min(end, len(items))])
			i = end
			continue
		}
		if kind, ok := steering[item]; ok {
			steps = append(steps, step{kind: kind})
			continue
		}
		s := step{kind: stepRule}
		for raw := range strings.SplitSeq(item, "|") {
			name, param, _ := strings.Cut(raw, "=")
			s.rules = append(s.rules, rule{name, unescape.Replace(param), raw})
		}
		steps = append(steps, s)
	}
	return steps
}

// halfKeyed reports whether an alias begins or ends the part for a map's keys without doing both.
func halfKeyed(meaning string) bool {
	keys, ends := 0, 0
	for item := range strings.SplitSeq(meaning, ",") {
		switch item {
		case "keys":
			keys++
		case "endkeys":
			ends++
		}
	}
	return keys != ends
}
