package backoff

import "sync/atomic"

// LastFailure keeps why the last attempt to connect failed, for the errors and the log of those who wait for a connection. Goroutines may use it at once.
type LastFailure struct{ err atomic.Pointer[error] }

// Keeping is attempt, and keeps why it failed.
func Keeping[T any](f *LastFailure, attempt func() (T, error)) func() (T, error) {
	return func() (T, error) {
		result, err := attempt()
		if err != nil {
			f.Set(err)
		}
		return result, err
	}
}

// Set replaces the failure.
func (f *LastFailure) Set(err error) { f.err.Store(&err) }

// Clear is for an outage that begins.
func (f *LastFailure) Clear() { f.err.Store(nil) }

// Err returns the failure; nil for none.
func (f *LastFailure) Err() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}
