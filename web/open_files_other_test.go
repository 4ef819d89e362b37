//go:build !unix

package web

import "testing"

// openFiles is large, since there is no limit to ask for.
func openFiles(*testing.T) int { return 1 << 20 }
