package names

import (
	"slices"
	"strings"
)

// Patterns holds values by pattern and finds those whose patterns take a name, as [Match] has it. The time for that grows with the
// words of the name and with the patterns that take its beginning, not with how many patterns there are. The zero Patterns is empty.
// Any number of goroutines may read it while none changes it.
type Patterns[V comparable] struct {
	root branch[V]
}

// branch is the patterns that begin with the same words.
type branch[V comparable] struct {
	values []V                   // of the pattern that ends here
	words  map[string]*branch[V] // by the next word
	one    *branch[V]            // where the next word is "*"
	more   *branch[V]            // where the next word is "**"

	// afterMore is true where "**" is among the words: a name may come here in several ways.
	afterMore bool
}

// Add adds a value to a pattern, which may have several, and the same one several times.
func (p *Patterns[V]) Add(pattern string, value V) {
	b := &p.root
	for more := true; more; {
		var word string
		word, pattern, more = strings.Cut(pattern, ".")
		next := b.next(word)
		if next == nil {
			next = &branch[V]{afterMore: b.afterMore || word == "**"}
			b.setNext(word, next)
		}
		b = next
	}
	b.values = append(b.values, value)
}

// Remove removes a value that was added to the pattern, once.
func (p *Patterns[V]) Remove(pattern string, value V) { p.root.remove(pattern, true, value) }

func (b *branch[V]) remove(pattern string, more bool, value V) {
	if !more {
		if i := slices.Index(b.values, value); i >= 0 {
			b.values = slices.Delete(b.values, i, i+1)
		}
		return
	}
	word, rest, more := strings.Cut(pattern, ".")
	next := b.next(word)
	if next == nil {
		return
	}
	next.remove(rest, more, value)
	if len(next.values)+len(next.words) == 0 && next.one == nil && next.more == nil {
		b.setNext(word, nil)
	}
}

func (b *branch[V]) next(word string) *branch[V] {
	switch word {
	case "*":
		return b.one
	case "**":
		return b.more
	}
	return b.words[word]
}

func (b *branch[V]) setNext(word string, next *branch[V]) {
	switch {
	case word == "*":
		b.one = next
	case word == "**":
		b.more = next
	case next == nil:
		delete(b.words, word)
	default:
		if b.words == nil {
			b.words = make(map[string]*branch[V])
		}
		b.words[strings.Clone(word)] = next // the pattern may be a part of a long text
	}
}

// AppendMatches appends the values of all patterns that take the name, which is a valid one, in an order that means nothing.
func (p *Patterns[V]) AppendMatches(values []V, name string) []V {
	// After each word of the name, at are the branches whose last word took it. Those in open end in "**": it takes what is left
	// of the name however long that is, so they are never taken out.
	var first, second, third [8]*branch[V] // space for what most names need
	at, after, open := append(first[:0], &p.root), second[:0], third[:0]
	var opened map[*branch[V]]bool // those in open that a name may come to in several ways
	for more := true; more; {
		var word string
		word, name, more = strings.Cut(name, ".")
		after = after[:0]
		for _, list := range [][]*branch[V]{at, open} { // without those that this word opens
			for _, b := range list {
				if next := b.words[word]; next != nil {
					after = append(after, next)
				}
				if b.one != nil {
					after = append(after, b.one)
				}
				next := b.more
				if next == nil || opened[next] {
					continue
				}
				if b.afterMore {
					if opened == nil {
						opened = make(map[*branch[V]]bool)
					}
					opened[next] = true
				}
				open = append(open, next)
			}
		}
		at, after = after, at
	}
	for _, list := range [][]*branch[V]{at, open} {
		for _, b := range list {
			values = append(values, b.values...)
		}
	}
	return values
}
