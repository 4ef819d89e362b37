package sabir_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
)

// A body of 400 kB takes 17 MB as a value of any, so the bound of bodies alone would let many of them take all memory.
func TestInputsThatGrowAsValuesAreRefusedWhereOthersHoldTheSpace(t *testing.T) {
	begun, release := make(chan bool), make(chan bool)
	s := sabir.NewService("notes")
	sabir.Handle(s, "keep", func(_ context.Context, note any) (int, error) {
		begun <- true
		<-release
		return len(note.([]any)), nil
	})
	node := start(t, sabir.Serve(s), sabir.Limits{NodeBuffers: 8 << 20})
	keep := node.Action("notes.keep")
	body := []byte("[" + strings.Repeat(`{"a":1},`, 49_999) + `{}]`)
	call := func() error {
		answer, err := keep.ServeJSON(gateway.Inbound{Context: t.Context()}, nil, body)
		if err == nil && string(answer) != "50000" {
			t.Errorf("the answer is %s", answer)
		}
		return err
	}
	const fit = 4 // each counts for a quarter of the limit
	ended := make(chan error, fit)
	for range fit {
		go func() { ended <- call() }()
		<-begun
	}
	if err := call(); !errors.Is(err, sabir.ErrTooManyCalls) {
		t.Errorf("one more fails with %v", err)
	}
	close(release)
	for range fit {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	go func() { <-begun }()
	if err := call(); err != nil {
		t.Errorf("after the others: %v", err)
	}
}
