//go:build !unix

package dubbo_test

import (
	"testing"

	"github.com/sabir-go/sabir"
)

// standStill does nothing: processes can be suspended on unix only.
func standStill(*testing.T, *process, *sabir.Node) {}
