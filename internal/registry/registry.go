// Package registry keeps drivers by the names under which their packages register them, as database/sql does. Transports,
// engines of channels, stores of grains and codecs are found by it:
//
//	var engines = registry.New[Engine]("channel")
//
//	func Register(scheme string, e Engine) { engines.Register(scheme, e) }
package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Registry is the drivers of one kind. Its methods may be called from any number of goroutines at once.
type Registry[D any] struct {
	owner string

	mu      sync.RWMutex
	drivers map[string]D
}

// New makes an empty registry. The owner is the package whose function Register panics.
func New[D any](owner string) *Registry[D] {
	return &Registry[D]{owner: owner, drivers: make(map[string]D)}
}

// Register adds a driver. It panics if the driver is nil, if the name is not made of lower case letters, digits, '+', '-' and '.'
// after a first letter (as the scheme of a URL is: RFC 3986, section 3.1), or if the name is taken: each of these is a
// mistake in the program that shows at its start.
func (r *Registry[D]) Register(name string, driver D) {
	if any(driver) == nil {
		panic(fmt.Sprintf("%s: Register was given nil for %q", r.owner, name))
	}
	if !valid(name) {
		panic(fmt.Sprintf("%s: Register: the name %q is not made of lower case letters, digits, '+', '-' and '.' after a first letter", r.owner, name))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.drivers[name]; taken {
		panic(fmt.Sprintf("%s: Register: %q is registered already", r.owner, name))
	}
	r.drivers[name] = driver
}

// Lookup returns the driver of that name, and whether there is one.
func (r *Registry[D]) Lookup(name string) (D, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	driver, ok := r.drivers[name]
	return driver, ok
}

// Names returns the names of all drivers in alphabetical order. The slice is the caller's.
func (r *Registry[D]) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.drivers))
}

func valid(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z'
		if !letter && (i == 0 || (r < '0' || r > '9') && !strings.ContainsRune("+-.", r)) {
			return false
		}
	}
	return name != ""
}
