//go:build !unix || solaris || aix

package nats

import "os"

// openLocked has no lock on this system: two servers on one folder are prevented only by their common port in the address.
func openLocked(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
