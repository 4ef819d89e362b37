package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/lab/child"
)

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// lacks are the codecs and methods that a contender has not.
var lacks = map[string][]string{"dubbo-go": {"json", panics}}

func TestEveryContenderAnswersEveryMethodRightly(t *testing.T) {
	for name := range contenders {
		for _, codec := range []string{"json", "hessian"} {
			if slices.Contains(lacks[name], codec) {
				continue
			}
			t.Run(name+"/"+codec, func(t *testing.T) {
				extra, err := json.Marshal(Setting{codec})
				if err != nil {
					t.Fatal(err)
				}
				order := child.Order{Role: "server", Row: name, Address: freeAddress(t), Size: 2, Callers: 4, Extra: extra}
				server, err := start(order)
				if err != nil {
					t.Fatal(err)
				}
				if server.Stop != nil {
					defer server.Stop()
				}
				for _, method := range []string{ping, parse, noError, asyncError, panics} {
					if slices.Contains(lacks[name], method) || (name == "raw" && method == panics) {
						continue
					}
					order.Role, order.Work = "client", method
					client, err := start(order)
					if err != nil {
						t.Fatalf("%s: %v", method, err)
					}
					s, err := client.Measure(20 * time.Millisecond)
					if err != nil || s.Operations == 0 || s.Wrong > 0 {
						t.Errorf("%s: %d right, %d wrong: %s, %v", method, s.Operations, s.Wrong, s.Problem, err)
					}
					client.Stop()
				}
			})
		}
	}
}

func TestAnswersThatAreNotRightAreNoticed(t *testing.T) {
	p := parsed()
	if err := p.check(true); err != nil {
		t.Error(err)
	}
	p.Obj.Number++
	if err := p.check(true); err == nil {
		t.Error("another number was not noticed")
	}
	p.Array = p.Array[:4]
	if err := p.check(false); err == nil {
		t.Error("another shape was not noticed")
	}
	if err := wantText("echo")("ok", nil); err == nil {
		t.Error("another text was not noticed")
	}
	if err := wantError(errAsync)("ok", nil); err == nil {
		t.Error("an error that is missing was not noticed")
	}
}

func TestOrdersThatCannotBeDoneSayWhy(t *testing.T) {
	for _, o := range []child.Order{{Row: "else"}, {Row: "raw"}, {Row: "raw", Extra: json.RawMessage(`{"codec":"xml"}`), Work: ping}} {
		if _, err := start(o); err == nil || !strings.ContainsAny(err.Error(), "\"'") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
