package actor

import "iter"

// smallMap is a map that usually has no entry or one, which it holds inline, and otherwise very few. The zero key is not a key.
type smallMap[K comparable, V any] struct {
	one  pair[K, V]
	rest *listOrMap[K, V] // the others; nil where there never was more than one
}

type pair[K comparable, V any] struct {
	value V // first: behind the key, a value of no size would take space
	key   K
}

// set stores an entry and reports whether the key is new.
func (f *smallMap[K, V]) set(key K, value V) (added bool) {
	var none K
	switch {
	case f.one.key == key || f.rest == nil && f.one.key == none:
		added = f.one.key == none
		f.one = pair[K, V]{value, key}
		return added
	case f.rest == nil:
		f.rest = &listOrMap[K, V]{}
	}
	return f.rest.set(key, value)
}

func (f *smallMap[K, V]) get(key K) (value V, ok bool) {
	var none K
	switch {
	case f.one.key == key:
		return f.one.value, key != none
	case f.rest == nil:
		return value, false
	}
	return f.rest.get(key)
}

// drop removes an entry and reports whether there was one.
func (f *smallMap[K, V]) drop(key K) bool {
	var none K
	switch {
	case f.one.key == key:
		f.one = pair[K, V]{}
		return key != none
	case f.rest == nil:
		return false
	}
	return f.rest.drop(key)
}

func (f *smallMap[K, V]) len() int {
	var none K
	n := 0
	if f.one.key != none {
		n = 1
	}
	if f.rest != nil {
		n += len(f.rest.list) + len(f.rest.index)
	}
	return n
}

func (f *smallMap[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		var none K
		if f.one.key != none && !yield(f.one.key, f.one.value) || f.rest == nil {
			return
		}
		for _, e := range f.rest.list {
			if !yield(e.key, e.value) {
				return
			}
		}
		for key, value := range f.rest.index {
			if !yield(key, value) {
				return
			}
		}
	}
}

// listOrMap is a list, or a map beyond listEntries entries.
type listOrMap[K comparable, V any] struct {
	list  []pair[K, V]
	index map[K]V // instead of list
}

const listEntries = 8

func (f *listOrMap[K, V]) set(key K, value V) (added bool) {
	if f.index != nil {
		before := len(f.index)
		f.index[key] = value
		return len(f.index) > before
	}
	for i := range f.list {
		if f.list[i].key == key {
			f.list[i].value = value
			return false
		}
	}
	if len(f.list) < listEntries {
		f.list = append(f.list, pair[K, V]{value, key})
		return true
	}
	f.index = make(map[K]V)
	for _, e := range f.list {
		f.index[e.key] = e.value
	}
	f.index[key] = value
	f.list = nil
	return true
}

func (f *listOrMap[K, V]) get(key K) (value V, ok bool) {
	if f.index != nil {
		value, ok = f.index[key]
		return value, ok
	}
	for i := range f.list {
		if f.list[i].key == key {
			return f.list[i].value, true
		}
	}
	return value, false
}

func (f *listOrMap[K, V]) drop(key K) bool {
	if f.index != nil {
		before := len(f.index)
		delete(f.index, key)
		return len(f.index) < before
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
