package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func TestFieldsMakeAnObject(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, `{}`},
		{[]string{"id=u-1"}, `{"id":"u-1"}`},
		{[]string{"a=", "b=x=y", "c=with space", "d=\"quoted\""}, `{"a":"","b":"x=y","c":"with space","d":"\"quoted\""}`},
		{[]string{"n:=3", "t:=true", "z:=null", `l:=[1, 2]`, `o:={"k":"v"}`}, `{"n":3,"t":true,"z":null,"l":[1, 2],"o":{"k":"v"}}`},
		{[]string{"n=3"}, `{"n":"3"}`},
		{[]string{`{"a=b":1}`}, `{"a=b":1}`},
		{[]string{`"text=with"`}, `"text=with"`},
		{[]string{"7"}, `7`},
	} {
		got, err := (&cli{stdin: strings.NewReader("")}).readInput(t.Context(), test.args)
		if err != nil || string(got) != test.want {
			t.Errorf("%q: %s (%v), want %s", test.args, got, err, test.want)
		}
	}
}

func FuzzFieldsAreJSONOrRefused(f *testing.F) {
	for _, seed := range []string{"id=u-1", "n:=3", "a=\xff\x00", "b:={\"x\":1}", "c:=1,\"d\":2", "e:=", "=x", "x.y-z=1", "k:=1}"} {
		f.Add(seed, "z=1")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		got, err := fieldsInput([]string{one, two})
		if err != nil {
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(got, &object); err != nil || len(object) != 2 {
			t.Errorf("%q and %q made %s (%v), want an object of two", one, two, got, err)
		}
	})
}

func TestACommandThatReadsStdinEndsWhenItIsInterrupted(t *testing.T) {
	for _, args := range [][]string{{"call", "users.get", "-"}, {"emit", "order.created", "-", "--join", "tcp://:7700"}, {"bench", "users.get", "-"}, {"codecs", "-"}, {"gen", "ts", "-"}, {"gen", "diff", "-"}, {"pubkey"}} {
		ctx, interrupt := context.WithCancel(t.Context())
		stdin, typed := io.Pipe() // as a terminal at which nobody types
		var out, errOut strings.Builder
		ended := make(chan int)
		go func() { ended <- execute(ctx, args, stdin, &out, &errOut) }()
		if _, err := typed.Write([]byte(" ")); err != nil { // which the command has begun to read
			t.Fatal(err)
		}
		interrupt()
		if code := <-ended; code != exitFailed || out.Len() > 0 || !strings.HasPrefix(errOut.String(), "error: ") {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out.String(), errOut.String())
		}
		typed.Close()
	}
}
