package wire

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestPairsGoBackWithAnAnswer(t *testing.T) {
	want := []Pair{{":status", "201"}, {"Location", "/orders/7"}, {"Set-Cookie", ""}}
	large := bytes.Repeat([]byte("large "), chunkSize)
	server := newNode()
	server.serve["place"] = func(in *Inbound) {
		if !in.Answer(want) {
			t.Error("the caller takes no pairs")
		}
		switch string(in.Payload()) {
		case "fail":
			in.Fail(&Failure{Code: 5, Name: "NoStock"})
		case "large":
			in.Reply(append(AppendRef(in.Buf(), 0), large...))
		default:
			in.Reply(append(AppendRef(in.Buf(), 0), "placed"...))
		}
	}
	p := newPair(t, "tcp", newNode(), server)
	for _, test := range []struct {
		name, in string
		out      []byte
		err      string
	}{
		{"with a value", "one", []byte("placed"), ""},
		{"with a value in chunks", "large", large, ""},
		{"with an error", "fail", nil, "NoStock"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := p.client.Call(p.client.Declare(CallRoute, "place", "bytes"))
			defer c.Free()
			c.TakesPairs = true
			err := c.Do(t.Context(), append(AppendRef(c.Buf(), 0), test.in...))
			if failure, ok := errors.AsType[*Failure](err); ok != (test.err != "") || ok && failure.Name != test.err {
				t.Fatal(err)
			}
			if err == nil && !bytes.Equal(c.Reply(), test.out) {
				t.Errorf("the value is %.40q", c.Reply())
			}
			if !reflect.DeepEqual(c.Pairs(), want) {
				t.Errorf("got %v", c.Pairs())
			}
		})
	}
}

func TestPairsAreNotSentToWhoDoesNotTakeThem(t *testing.T) {
	server := newNode()
	taken := make(chan bool, 2)
	server.serve["place"] = func(in *Inbound) {
		taken <- in.Answer([]Pair{{"Location", strings.Repeat("x", len(in.Payload()))}})
		in.Reply(AppendRef(in.Buf(), 0))
	}
	p := newPair(t, "tcp", newNode(), server)
	if _, err := call(t.Context(), p.client, "place", nil, func(c *Call) { c.TakesPairs = false }); err != nil {
		t.Fatal(err)
	}
	if <-taken {
		t.Error("a caller that did not ask got pairs")
	}
	if _, err := call(t.Context(), p.client, "place", make([]byte, MaxPairs), func(c *Call) { c.TakesPairs = true }); err != nil {
		t.Fatal(err)
	}
	if <-taken {
		t.Error("more than MaxPairs were taken")
	}
}
