package schema

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/go-playground/validator/v10"

	"github.com/sabir-go/sabir/internal/tag"
)

// parameters has a parameter for each rule that needs one.
var parameters = map[string]string{"min": "1", "max": "1", "len": "1", "gt": "1", "gte": "1", "lt": "1", "lte": "1", "eq": "a", "ne": "a", "eq_ignore_case": "a", "ne_ignore_case": "a",
	"oneof": "a", "oneofci": "a", "noneof": "a", "noneofci": "a", "contains": "a", "containsany": "a", "containsrune": "a", "excludes": "a", "excludesall": "a", "excludesrune": "a",
	"startswith": "a", "endswith": "a", "startsnotwith": "a", "endsnotwith": "a", "datetime": "2006", "postcode_iso3166_alpha2": "DE"}

func TestTheLibraryRefusesAnEmptyTextByTheRulesThatAreSaidTo(t *testing.T) {
	v := validator.New()
	refused := 0
	for name := range tag.Singles() {
		if slices.Contains([]string{"port", "unique", "iso4217_numeric"}, name) {
			continue // they panic on texts
		}
		r := tag.Rule{Name: name, Param: parameters[name], Raw: name}
		if r.Param != "" {
			r.Raw += "=" + r.Param
		}
		c := &checks{place: place{typ: reflect.TypeFor[string]()}, shape: text, schema: &Schema{}}
		c.rule(r)
		want := v.Var("", r.Raw) != nil
		if c.refuses && !want {
			t.Errorf("%s: the schema demands a value and the library does not", r.Raw)
		}
		if !c.refuses && want && name != "spicedb" { // which depends on its parameter
			t.Errorf("%s: the library refuses an empty text and the schema does not", r.Raw)
		}
		if want {
			refused++
		}
	}
	if refused < 100 {
		t.Errorf("only %d rules refused: the test looks at the wrong thing", refused)
	}
}

func TestEveryPatternCompiles(t *testing.T) {
	for name, r := range textRules {
		if !tag.Single(name) {
			t.Errorf("%s is no rule of the library", name)
		}
		if _, err := regexp.Compile(r.pattern); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkDescribe(b *testing.B) {
	type address struct {
		Street string `json:"street" validate:"required,max=100"`
		Zip    string `json:"zip" validate:"len=5,numeric"`
	}
	type user struct {
		ID      int64     `json:"id" validate:"min=1"`
		Name    string    `json:"name" validate:"required,max=64"`
		Email   string    `json:"email" validate:"omitempty,email"`
		Home    address   `json:"home"`
		Others  []address `json:"others" validate:"max=10,dive"`
		Friends []*user   `json:"friends"`
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Describe(reflect.TypeFor[user](), reflect.TypeFor[user]()); err != nil {
			b.Fatal(err)
		}
	}
}
