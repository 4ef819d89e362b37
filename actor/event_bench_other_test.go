//go:build !unix

package actor

import "time"

func processorTime() time.Duration { return 0 }
