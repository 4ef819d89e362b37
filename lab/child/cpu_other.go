//go:build !unix

package child

import "time"

// CPU is not known on this system: 0.
func CPU() (time.Duration, error) { return 0, nil }
