package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also where the children of the tests begin: a child is this program started again.
func TestMain(m *testing.M) {
	if childMain() {
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
