package cluster_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain finds goroutines left behind. A probe of memberlist's may end up to 4 probe intervals after Stop, which is about
// as long as goleak looks; so it looks again.
func TestMain(m *testing.M) {
	code := m.Run()
	err := goleak.Find()
	for range 3 {
		if err != nil {
			err = goleak.Find()
		}
	}
	if err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
