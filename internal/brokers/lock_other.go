//go:build !unix

package brokers

// lock fails: see errUnix.
func lock(string) (unlock func(), err error) { return nil, errUnix }
