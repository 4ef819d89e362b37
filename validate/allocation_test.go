package validate

import (
	"reflect"
	"testing"
	"unsafe"
)

func mustCompile[T any](t testing.TB, v *Validator) *Plan {
	t.Helper()
	plan, err := v.Compile(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

const someUUID = "f47ac10b-58cc-4372-a567-0e02b2c3d479"

func TestAPassingCheckDoesNotAllocate(t *testing.T) {
	type address struct {
		City string `validate:"required"`
	}
	type body struct {
		Name   string            `validate:"required,min=1,max=64"`
		Email  string            `validate:"required,email"`
		Age    *int              `validate:"omitempty,gte=0,lte=150"`
		Role   string            `validate:"oneof=admin user"`
		Score  float64           `validate:"gte=0"`
		ID     string            `validate:"uuid4|len=0"`
		Tags   []string          `validate:"max=10,dive,max=32"`
		Labels map[string]string `validate:"max=10,dive,keys,lowercase,endkeys,required"`
		Home   address
		Work   *address
		Others []address `validate:"dive"`
		Pair   [2]address
		Any    any
	}
	plan := mustCompile[body](t, New())
	age := 36
	ok := body{
		"Ada", "ada@example.org", &age, "user", 0.5, someUUID, []string{"x", "y"}, map[string]string{"a": "b"},
		address{"London"}, &address{"Paris"}, []address{{"Rome"}, {"Bern"}}, [2]address{}, "free text",
	}
	if n := testing.AllocsPerRun(200, func() {
		local := ok // must not be moved to the heap
		if err := plan.Check(unsafe.Pointer(&local)); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
