package sabir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestAnErrorOfAnAuthorIsRetryableOnlyWhereItSaysSo(t *testing.T) {
	for c := CodeCanceled; int(c) < len(codes); c++ {
		e := NewError(c, "Mine", "")
		if e.Retryable || Errorf(c, "Mine", "x").Retryable {
			t.Errorf("%v is retryable by its code", c)
		}
		if !e.AsRetryable().Retryable || e.Retryable {
			t.Errorf("%v: AsRetryable does not return a retryable copy", c)
		}
	}
}

func TestNoErrorCarriesCodeOK(t *testing.T) {
	func() {
		defer func() {
			if v := fmt.Sprint(recover()); !strings.Contains(v, "Mine") || !strings.Contains(v, "CodeOK") {
				t.Errorf("NewError with CodeOK panicked with %s", v)
			}
		}()
		NewError(CodeOK, "Mine", "")
	}()
	own := &Error{Name: "Mine", Message: "no code given"}
	if e := AsError(own); e.Code != CodeUnknown || e.Name != "Mine" || !errors.Is(e, own) {
		t.Errorf("an error without a code becomes %+v", e)
	}
}

func TestAnErrorSurvivesJSON(t *testing.T) {
	type shortage struct{ Left int }
	sentinel := NewError(CodeUnavailable, "OutOfStock", "not enough").AsRetryable()
	e := sentinel.WithData(shortage{3})
	e.Node = "n1"
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var got Error
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(&got, sentinel) || got.Error() != e.Error() || !got.Retryable || got.Node != "n1" {
		t.Fatalf("got %+v", got)
	}
	if data, err := DataAs[shortage](&got); err != nil || data.Left != 3 {
		t.Fatalf("data %+v, %v", data, err)
	}
	if data, err := DataAs[shortage](e); err != nil || data.Left != 3 {
		t.Fatalf("data before the wire %+v, %v", data, err)
	}
	if sentinel.Data != nil || sentinel.Node != "" {
		t.Fatal("the variable was changed")
	}
}

func TestErrorsMatchByCodeAndName(t *testing.T) {
	e := NewError(CodeNotFound, "NoUser", "no user 7")
	for want, target := range map[error]bool{
		NewError(CodeNotFound, "NoUser", "another text"): true, NewError(CodeNotFound, "NoOrder", ""): false, NewError(CodeInternal, "NoUser", ""): false,
	} {
		if errors.Is(e, want) != target {
			t.Errorf("%v: %v", want, !target)
		}
	}
	wrapped := Errorf(CodeInternal, "Storage", "reading user 7: %w", os.ErrNotExist)
	if !errors.Is(wrapped, os.ErrNotExist) || wrapped.Error() != "Storage: reading user 7: file does not exist" {
		t.Errorf("got %v", wrapped)
	}
}

func TestUnknownCodesAreHarmless(t *testing.T) {
	c := Code(99)
	if c.String() != "Code(99)" || c.HTTPStatus() != 500 || c.GRPCStatus() != 2 || NewError(c, "X", "").Retryable {
		t.Errorf("got %v %d %d", c, c.HTTPStatus(), c.GRPCStatus())
	}
	if err := c.UnmarshalText([]byte("Nonsense")); err == nil {
		t.Error("read a code that is not there")
	}
}

func FuzzConversionBetweenShapes(f *testing.F) {
	f.Add(`{"a":1,"b":[{"c":"x"}],"d":null}`)
	f.Add(`[1,2,"x"]`)
	f.Add(`"\ud800"`)
	type shape struct {
		A int64            `json:"a"`
		B []map[string]any `json:"b,omitempty"` // else [] would be one level more than the text had
		D *shape           `json:"d"`
	}
	f.Add(strings.Repeat(`{"d":`, 127) + "{}" + strings.Repeat("}", 127))
	f.Fuzz(func(t *testing.T, text string) {
		var value any
		if decodeJSON([]byte(text), &value) != nil {
			return
		}
		var typed shape
		if convertValue(&typed, value) != nil {
			return
		}
		var again shape
		if err := convertInto(&again, &typed); err != nil {
			t.Fatal(err)
		}
		var loose map[string]any
		if err := convertInto(&loose, &typed); err != nil {
			t.Fatalf("%+v has no loose form: %v", typed, err)
		}
		var back shape
		if err := convertInto(&back, &loose); err != nil {
			t.Fatalf("%v does not come back: %v", loose, err)
		}
	})
}
