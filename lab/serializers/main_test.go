package main

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/serializers/documents"
)

func TestEveryContenderDoesItsWork(t *testing.T) {
	for _, row := range rowNames(t) {
		j, err := start(child.Order{Row: row})
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range []string{"use serialize 10 B", "use deserialize 150 B", "use serialize 1 kB", "use deserialize 10 kB"} {
			length, err := j.Answer(use)
			if err != nil {
				t.Errorf("%s, %s: %v", row, use, err)
				continue
			}
			s, err := j.Measure(time.Millisecond)
			if err != nil || s.Operations == 0 || s.Figures["bytes"] != float64(length.(int)) {
				t.Errorf("%s, %s: %+v, %v", row, use, s, err)
			}
		}
	}
}

func rowNames(t *testing.T) []string {
	all, err := contenders(documents.Number{ID: 100})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	return names
}

func TestAWrongPacketIsFound(t *testing.T) {
	right, err := contenderOf("json", "10 B")
	if err != nil {
		t.Fatal(err)
	}
	wrong := newPacket(documents.Number{ID: 101})
	if right.same(&wrong) == nil {
		t.Error("another document is taken for this one")
	}
	j := &job{row: "json"}
	if _, err := j.answer("use deserialize 10 B"); err != nil {
		t.Fatal(err)
	}
	wrong.ID = "another"
	j.contender.decode = func([]byte) (decoded, error) { return &wrong, nil }
	if _, err := j.measure(time.Millisecond); err == nil {
		t.Error("a packet of another id is taken for this one")
	}
}

func TestWordsThatMeanNothingAreRefused(t *testing.T) {
	j := &job{row: "json"}
	for _, word := range []string{"use", "use serialize", "use copy 10 B", "serialize 10 B", "use serialize 11 B"} {
		if _, err := j.answer(word); err == nil {
			t.Errorf("%q is taken", word)
		}
	}
	if _, err := start(child.Order{Row: "xml"}); err == nil {
		t.Error("there is a row of xml")
	}
	if _, err := j.measure(time.Millisecond); err == nil {
		t.Error("something is measured before anything is in use")
	}
}
