package validate_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/validate"
)

type pageOf struct {
	Size  int            `default:"20" validate:"max=100"`
	Order string         `default:"name"`
	Every time.Duration  `default:"1000000000"`
	Until *time.Duration `default:"1m30s"`
	Exact *bool          `default:"true"`
	Tags  []string       `default:"[\"a\"]"`
	Inner pageFilter
	Items []pageFilter
	Far   *pageFilter
	ByKey map[string]pageFilter
	Next  *pageOf
}

type pageFilter struct {
	Limit float64 `default:"1.5"`
	Name  string
}

func setDefaults[T any](t *testing.T, value T) T {
	t.Helper()
	plan, err := validate.New().Compile(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	plan.SetDefaults(unsafe.Pointer(&value))
	return value
}

func TestFieldsThatAreZeroGetTheirDefaults(t *testing.T) {
	yes, until := true, 90*time.Second
	got := setDefaults(t, pageOf{Items: []pageFilter{{Name: "x"}, {Limit: 2}}, Far: &pageFilter{}, ByKey: map[string]pageFilter{"k": {}}, Next: &pageOf{Size: 3}})
	full := pageFilter{Limit: 1.5}
	want := pageOf{20, "name", time.Second, &until, &yes, []string{"a"}, full, []pageFilter{{1.5, "x"}, {2, ""}}, &full, map[string]pageFilter{"k": full},
		&pageOf{3, "name", time.Second, &until, &yes, []string{"a"}, full, nil, nil, nil, nil}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestFieldsThatAreSetKeepWhatTheyHave(t *testing.T) {
	no, until := false, time.Duration(2)
	value := pageOf{Size: 1, Order: "age", Every: 1, Until: &until, Exact: &no, Tags: []string{}, Inner: pageFilter{Limit: 3}}
	if got := setDefaults(t, value); !reflect.DeepEqual(got, value) {
		t.Errorf("got %+v", got)
	}
}

func TestWhatOthersHoldOfAValueStaysAsItIs(t *testing.T) {
	value := pageOf{Items: []pageFilter{{}}, Far: &pageFilter{}, ByKey: map[string]pageFilter{"k": {}}}
	setDefaults(t, value)
	if value.Items[0].Limit != 0 || value.Far.Limit != 0 || value.ByKey["k"].Limit != 0 {
		t.Errorf("changed: %+v", value)
	}
	type nested struct {
		Tags  []string
		Lists struct{ Tags []string } `default:"{\"Tags\":[\"a\"]}"`
	}
	one, two := setDefaults(t, nested{}), setDefaults(t, nested{})
	if one.Lists.Tags[0] = "b"; two.Lists.Tags[0] != "a" {
		t.Error("two values share a default")
	}
}

func TestAValueThatContainsItselfGetsItsDefaults(t *testing.T) {
	value := pageOf{}
	value.Next = &value
	if got := setDefaults(t, value); got.Size != 20 || got.Next.Size != 20 {
		t.Errorf("got %+v", got)
	}
}

func TestADefaultThatItsFieldCannotHoldIsReported(t *testing.T) {
	_, err := validate.New().Compile(reflect.TypeFor[struct {
		Size int `default:"many"`
	}]())
	if wrong, ok := errors.AsType[*validate.TagError](err); !ok || wrong.Field != "Size" || !strings.Contains(err.Error(), "many is no int") {
		t.Errorf("%v", err)
	}
}

func TestATypeWithoutTagsHasNoDefaults(t *testing.T) {
	type list struct {
		Next *list
		A    []int
	}
	plan, err := validate.New().Compile(reflect.TypeFor[list]())
	if err != nil || plan.HasDefaults() || !plan.Empty() {
		t.Errorf("%v, %v", plan.HasDefaults(), err)
	}
}
