package store

import "github.com/sabir-go/sabir/internal/grainstore"

// New makes a Store of a backend that a test makes up.
func New(backend grainstore.Backend) Store { return newKeeper(backend, defaultMaxState) }
