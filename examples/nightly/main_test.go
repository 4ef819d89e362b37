package main

import (
	"context"
	"io"
	"testing"
	"time"
)

func TestTwoProgramsThatShareAStoreRunTheJobOnceEachTime(t *testing.T) {
	const every, runs = 50 * time.Millisecond, 10
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	lines, out := io.Pipe()
	defer lines.Close()
	ended := make(chan error, 2)
	began := time.Now()
	for range 2 {
		go func() { ended <- run(ctx, out, "mem://two-programs", every) }()
	}
	line := make([]byte, 100)
	for range runs {
		if n, err := lines.Read(line); err != nil || string(line[:n]) != "the report is made\n" {
			t.Fatalf("%q, %v", line[:n], err)
		}
	}
	// If both ran the job each time, half of the times would be enough.
	if took := time.Since(began); took < (runs-1)*every {
		t.Errorf("%d runs took %v", runs, took)
	}
	stop()
	lines.Close()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestAnAddressWithoutAStoreEndsTheProgramWithAnError(t *testing.T) {
	if err := run(t.Context(), io.Discard, "nowhere://", time.Second); err == nil {
		t.Error("no error")
	}
}
