package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"testing"
)

func TestThePictureIsThatOfTheRecordedRun(t *testing.T) {
	r, err := load("run.json")
	if err != nil {
		t.Fatal(err)
	}
	want := draw(r)
	got, err := os.ReadFile("../../docs/kill.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
		t.Error("docs/kill.svg is another picture: run go run ./examples/picture")
	}
	for d := xml.NewDecoder(bytes.NewReader(want)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal("it is no XML: ", err)
		}
	}
}

func TestTheRecordedRunSaysWhatThePictureShows(t *testing.T) {
	r, err := load("run.json")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for i, sample := range r.Samples {
		for n, answered := range sample {
			calls += answered
			if n == r.Killed && i > r.KilledAt && answered > 0 {
				t.Errorf("node %s answered %d calls in sample %d, after it was killed", r.Nodes[n], answered, i)
			}
		}
	}
	if calls != r.Calls || r.Failed != 0 {
		t.Errorf("%d calls, the run says %d; %d failed", calls, r.Calls, r.Failed)
	}
}
