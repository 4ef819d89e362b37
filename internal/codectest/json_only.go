package codectest

import (
	stdjson "encoding/json"
	"reflect"
	"testing"
)

// amount, tagList and account are what many libraries of money, optional values and ordered maps are: they say in JSON what their
// fields do not show.
type (
	amount  struct{ cents int64 }
	tagList []tagEntry
	account struct {
		Owner string
		cents int64
	}
	tagEntry struct{ name, value string }
)

func (a amount) MarshalJSON() ([]byte, error)     { return stdjson.Marshal(a.cents) }
func (a *amount) UnmarshalJSON(text []byte) error { return stdjson.Unmarshal(text, &a.cents) }

func (l tagList) MarshalJSON() ([]byte, error) {
	pairs := make([][2]string, 0, len(l))
	for _, tag := range l {
		pairs = append(pairs, [2]string{tag.name, tag.value})
	}
	return stdjson.Marshal(pairs)
}

func (l *tagList) UnmarshalJSON(text []byte) error {
	var pairs [][2]string
	if err := stdjson.Unmarshal(text, &pairs); err != nil {
		return err
	}
	*l = nil
	for _, pair := range pairs {
		*l = append(*l, tagEntry{pair[0], pair[1]})
	}
	return nil
}

func (a account) MarshalJSON() ([]byte, error) { return stdjson.Marshal([]any{a.Owner, a.cents}) }
func (a *account) UnmarshalJSON(text []byte) error {
	return stdjson.Unmarshal(text, &[]any{&a.Owner, &a.cents})
}

// jsonOnly tests types whose MarshalJSON alone sees what they hold: a value comes back, or is refused, and is never lost without a word.
func jsonOnly(t *testing.T, s *suite) {
	for name, value := range map[string]any{
		"a hidden field":           amount{5},
		"beside one that is shown": account{"Ada", 5},
		"a list of hidden fields":  tagList{{"a", "b"}},
		"in a struct": struct {
			Price amount `json:"price"`
		}{amount{5}},
		"behind a pointer": struct {
			Price *amount `json:"price"`
		}{&amount{5}},
		"embedded":  struct{ amount }{amount{5}},
		"in a list": []amount{{5}}, "in a map": map[string]account{"a": {"Ada", 5}},
	} {
		data, err := s.Append(nil, value)
		if err != nil {
			s.mustNameCodec(t, name, err)
			continue
		}
		got := reflect.New(reflect.TypeOf(value))
		if err := s.Decode(data, got.Interface()); err != nil || !reflect.DeepEqual(got.Elem().Interface(), value) {
			t.Errorf("%s: %+v became %+v, %v", name, value, got.Elem().Interface(), err)
		}
	}
}
