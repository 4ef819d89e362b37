//go:build !unix || solaris || aix

package nats

import "os"

// openLocked has no lock here: the port that the address names is what keeps two servers out of one folder.
func openLocked(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
