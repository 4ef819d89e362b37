//go:build !unix

package http1

import "time"

// callerGone is not known on this system: the caller's going is noticed when the answer is written.
func callerGone(uintptr) bool { return false }

func unread(uintptr) (ago time.Duration, gone bool) { return 0, false }
