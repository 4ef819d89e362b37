//go:build !unix

package wire

import "time"

// processorTime is 0: the benchmarks that show it run on Unix.
func processorTime() time.Duration { return 0 }
