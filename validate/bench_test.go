package validate

import (
	"testing"
	"unsafe"
)

// signUp is the five-field body of the benchmarks.
type signUp struct {
	Name  string   `json:"name" validate:"required,min=1,max=64"`
	Email string   `json:"email" validate:"required,contains=@"`
	Age   int      `json:"age" validate:"gte=0,lte=150"`
	Role  string   `json:"role" validate:"oneof=admin user guest"`
	Tags  []string `json:"tags" validate:"max=10,dive,max=32"`
}

// signUpEmail is the same with the email rule.
type signUpEmail struct {
	Name  string   `json:"name" validate:"required,min=1,max=64"`
	Email string   `json:"email" validate:"required,email"`
	Age   int      `json:"age" validate:"gte=0,lte=150"`
	Role  string   `json:"role" validate:"oneof=admin user guest"`
	Tags  []string `json:"tags" validate:"max=10,dive,max=32"`
}

func goodSignUp() signUp {
	return signUp{"Ada Lovelace", "ada@example.org", 36, "user", []string{"maths", "engines"}}
}

func badSignUp() signUp {
	s := goodSignUp()
	s.Age = 151
	return s
}

func BenchmarkPass(b *testing.B) {
	plan := mustCompile[signUp](b, New())
	b.ReportAllocs()
	for b.Loop() {
		if err := plan.Check(unsafe.Pointer(&sharedGood)); err != nil {
			b.Fatal(err)
		}
	}
}

var (
	sharedGood      = goodSignUp()
	sharedGoodEmail = signUpEmail(goodSignUp())
	sharedBad       = badSignUp()
)

func BenchmarkPassEmail(b *testing.B) {
	plan := mustCompile[signUpEmail](b, New())
	b.ReportAllocs()
	for b.Loop() {
		if err := plan.Check(unsafe.Pointer(&sharedGoodEmail)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPassStruct(b *testing.B) {
	v := New()
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Struct(&sharedGood); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFail(b *testing.B) {
	plan := mustCompile[signUp](b, New())
	b.ReportAllocs()
	for b.Loop() {
		if err := plan.Check(unsafe.Pointer(&sharedBad)); err == nil {
			b.Fatal("passed")
		}
	}
}
