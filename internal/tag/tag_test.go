package tag_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/tag"
)

func TestATagIsParsedIntoItsSteps(t *testing.T) {
	check := func(rules ...tag.Rule) tag.Step { return tag.Step{Kind: tag.Check, Rules: rules} }
	required, least := tag.Rule{Name: "required", Raw: "required"}, tag.Rule{Name: "min", Param: "3", Raw: "min=3"}
	from := func(alias string, s tag.Step) tag.Step {
		s.Alias = alias
		return s
	}
	for text, want := range map[string][]tag.Step{
		"":                                 nil,
		"-":                                nil,
		"required":                         {check(required)},
		"required,min=3":                   {check(required), check(least)},
		"required|min=3":                   {check(required, least)},
		"omitempty,min=3":                  {{Kind: tag.OmitEmpty}, check(least)},
		"omitnil,omitzero":                 {{Kind: tag.OmitNil}, {Kind: tag.OmitZero}},
		"structonly":                       {{Kind: tag.StructOnly}},
		"nostructlevel":                    {{Kind: tag.NoStructLevel}},
		"dive,min=3":                       {{Kind: tag.Dive}, check(least)},
		"dive,keys,min=3,endkeys,required": {{Kind: tag.Dive, Keyed: true, Keys: []tag.Step{check(least)}}, check(required)},
		"dive,keys,endkeys":                {{Kind: tag.Dive, Keyed: true}},
		"dive,keys,min=3":                  {{Kind: tag.Dive, Keyed: true, Keys: []tag.Step{check(least)}}},
		"keys":                             {check(tag.Rule{Name: "keys", Raw: "keys"})},
		"endkeys":                          {{Kind: tag.EndKeys}},
		"eq=a0x2Cb0x7Cc=d":                 {check(tag.Rule{Name: "eq", Param: "a,b|c=d", Raw: "eq=a0x2Cb0x7Cc=d"})},
		"required,,":                       {check(required), check(tag.Rule{}), check(tag.Rule{})},
		"short|required":                   {check(tag.Rule{Name: "short", Raw: "short"}, required)},
		"short":                            {from("short", check(least)), from("short", check(required))},
		"list":                             {from("list", tag.Step{Kind: tag.Dive}), from("short", check(least)), from("short", check(required))},
	} {
		if got := tag.Parse(text, map[string]string{"short": "min=3,required", "list": "dive,short"}); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestAKindIsWrittenAsInATag(t *testing.T) {
	for _, part := range []string{"omitempty", "omitnil", "omitzero", "structonly", "nostructlevel", "dive", "endkeys"} {
		if got := tag.Parse(part, nil)[0].Kind.String(); got != part {
			t.Errorf("%s is written %q", part, got)
		}
	}
	if got := tag.Check.String(); got != "" {
		t.Errorf("a check is written %q", got)
	}
}

func TestATagDemandsTheValueItselfOrNot(t *testing.T) {
	for text, want := range map[string]bool{
		"required": true, "min=3,required": true, "required|min=3,required": true, "omitempty,required": true,
		"": false, "-": false, "min=3": false, "required_if=A 1": false, "required|min=3": false,
		"dive,required": false, "dive,keys,required,endkeys": false, "required,dive": true,
	} {
		if tag.Required(text) != want {
			t.Errorf("%q: got %v", text, !want)
		}
	}
}

func TestAValueIsSecretByTheOptionAlone(t *testing.T) {
	for text, want := range map[string]bool{"secret": true, "a, secret ": true, "": false, "secrets": false, "not secret": false} {
		if tag.Secret(text) != want {
			t.Errorf("%q: got %v", text, !want)
		}
	}
}

func TestWordsAreSplitAtSpacesOutsideOfQuotes(t *testing.T) {
	for text, want := range map[string][]string{
		"":              nil,
		"a b":           {"a", "b"},
		"  a\tb  ":      {"a", "b"},
		"'a b' c":       {"a b", "c"},
		"'' x":          {"", "x"},
		"it's 'x y":     {"its", "x", "y"},
		"'a''b'":        {"a", "b"},
		"'new york' ny": {"new york", "ny"},
	} {
		if got := tag.Words(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestTheKindsOfRulesDoNotOverlap(t *testing.T) {
	seen := 0
	for rule := range tag.Singles() {
		seen++
		if !tag.Single(rule) || tag.Across(rule) {
			t.Errorf("%s is among the rules that look at one value, but is reported otherwise", rule)
		}
	}
	if seen < 100 {
		t.Errorf("only %d rules", seen)
	}
	for rule, want := range map[string][3]bool{ // single, alias, across
		"min": {true, false, false}, "iscolor": {true, true, false}, "eqfield": {false, false, true},
		"required_if": {false, false, false}, "mine": {false, false, false}, "": {false, false, false},
	} {
		if got := [3]bool{tag.Single(rule), tag.Alias(rule), tag.Across(rule)}; got != want {
			t.Errorf("%q: single, alias, across: got %v, want %v", rule, got, want)
		}
	}
}

func TestTheEmptyTextMayPassFewRules(t *testing.T) {
	passed := 0
	for rule := range tag.Singles() {
		if tag.PassesEmpty(rule) {
			passed++
		}
	}
	if passed != 14 || tag.PassesEmpty("email") || tag.PassesEmpty("eq") || tag.PassesEmpty("mine") {
		t.Errorf("%d rules", passed)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "-", "required,min=3|max=4", "dive,keys,min=1,endkeys,dive,required", "keys,keys,endkeys", "eq=0x2C", "|,=,|="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps := tag.Parse(text, nil)
		if text == "" || text == "-" {
			if steps != nil {
				t.Fatalf("steps %v", steps)
			}
			return
		}
		if got := strings.Join(parts(steps), ","); got != text && !strings.Contains(text, "keys") { // which are nested
			t.Fatalf("%q became %q", text, got)
		}
		tag.Required(text)
		tag.Secret(text)
		tag.Words(text)
	})
}

// parts is the parts that steps were made of.
func parts(steps []tag.Step) (list []string) {
	for _, s := range steps {
		raw := make([]string, len(s.Rules))
		for i, r := range s.Rules {
			raw[i] = r.Raw
		}
		list = append(list, s.Kind.String()+strings.Join(raw, "|"))
	}
	return list
}
