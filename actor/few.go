package actor

import "iter"

// few is a map that is usually empty or has very few entries: it then takes as little memory as they do.
type few[K comparable, V any] struct {
	list []pair[K, V]
	rest map[K]V // instead of list, where there are more
}

type pair[K comparable, V any] struct {
	key   K
	value V
}

const fewEntries = 8

// set sets an entry, and tells whether there was none.
func (f *few[K, V]) set(key K, value V) (added bool) {
	if f.rest != nil {
		before := len(f.rest)
		f.rest[key] = value
		return len(f.rest) > before
	}
	for i := range f.list {
		if f.list[i].key == key {
			f.list[i].value = value
			return false
		}
	}
	if len(f.list) < fewEntries {
		f.list = append(f.list, pair[K, V]{key, value})
		return true
	}
	f.rest = make(map[K]V)
	for _, e := range f.list {
		f.rest[e.key] = e.value
	}
	f.rest[key] = value
	f.list = nil
	return true
}

func (f *few[K, V]) get(key K) (V, bool) {
	if f.rest != nil {
		v, ok := f.rest[key]
		return v, ok
	}
	for i := range f.list {
		if f.list[i].key == key {
			return f.list[i].value, true
		}
	}
	var none V
	return none, false
}

// drop removes an entry, and tells whether there was one.
func (f *few[K, V]) drop(key K) bool {
	if f.rest != nil {
		_, ok := f.rest[key]
		delete(f.rest, key)
		return ok
	}
	for i := range f.list {
		if f.list[i].key == key {
			last := len(f.list) - 1
			f.list[i] = f.list[last]
			f.list[last] = pair[K, V]{}
			f.list = f.list[:last]
			return true
		}
	}
	return false
}

func (f *few[K, V]) len() int { return len(f.list) + len(f.rest) }

func (f *few[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, e := range f.list {
			if !yield(e.key, e.value) {
				return
			}
		}
		for key, value := range f.rest {
			if !yield(key, value) {
				return
			}
		}
	}
}
