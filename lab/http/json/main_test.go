package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/http/ask"
	"github.com/sabir-go/sabir/lab/http/user"
)

func TestEveryLibraryReadsAndWritesTheUser(t *testing.T) {
	for name := range libraries() {
		for _, work := range []string{workDecode, workEncode} {
			job, err := start(child.Order{Row: name, Work: work})
			if err != nil {
				t.Errorf("%s, %s: %v", name, work, err)
				continue
			}
			if s, err := job.Measure(time.Millisecond); err != nil || s.Operations == 0 || s.Wrong != 0 {
				t.Errorf("%s, %s: %+v, %v", name, work, s, err)
			}
		}
	}
}

func TestWhatIsNotKnownIsAnError(t *testing.T) {
	for _, o := range []child.Order{{Row: "nobody", Work: workDecode}, {Row: "Sabir", Work: "sing"}} {
		if _, err := start(o); err == nil {
			t.Errorf("%+v was started", o)
		}
	}
}

func TestWrongAnswersAreNoticed(t *testing.T) {
	l := libraries()["Sabir"]
	if err := decode(l, []byte(`{"id":2,"name":"John","surname":"Smith","lastUpdate":"2023-07-09T19:33:06.123Z"}`), wanted(t))(1); err == nil {
		t.Error("another user was taken")
	}
	if err := encode(l, []byte(`{}`), wanted(t))(1); err == nil {
		t.Error("another text was taken")
	}
}

func wanted(t *testing.T) user.User {
	t.Helper()
	var u user.User
	if err := json.Unmarshal([]byte(ask.GoodBody), &u); err != nil {
		t.Fatal(err)
	}
	return u
}
