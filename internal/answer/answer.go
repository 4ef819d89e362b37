// Package answer collects what a handler answers beside its output: a status, headers and trailers.
package answer

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Key is the key under which a context has what takes the metadata of the answer.
type Key struct{}

// Given stands under [Key] where gateway.WithAnswer put it. Its pointers can be compared, whatever it holds.
type Given struct{ Taker }

// Taker is gateway.Answer.
type Taker interface {
	SetStatus(status int) error
	SetHeader(name, value string) error
	SetTrailer(name, value string) error
}

// The bounds of what one answer may say, so that every gateway and every link can carry it.
const (
	maxFields = 64
	maxBytes  = 12 << 10 // of names and values
)

// ErrTooMuch is the error of a header beyond the bounds.
var ErrTooMuch = errors.New("the answer has more than 64 headers, or more than 12 KiB of them")

// Metadata goes with an answer. A name is in Header or in Trailer once.
type Metadata struct {
	Status          int // 0 where none was chosen
	Header, Trailer []Field
}

// Field is a header or a trailer.
type Field struct{ Name, Value string }

// Collector takes the metadata of one answer, until End. The zero value is ready and takes no memory before something is set. Its methods
// may be called by several goroutines; after End they do nothing.
type Collector struct{ state atomic.Pointer[state] }

type state struct {
	mu    sync.Mutex
	ended bool
	size  int
	said  Metadata
}

// ended is the state after End.
var ended = &state{ended: true}

// SetStatus chooses the status.
func (c *Collector) SetStatus(status int) error {
	c.change(func(s *state) { s.said.Status = status })
	return nil
}

// SetHeader sets a header. Beyond the bounds it returns [ErrTooMuch].
func (c *Collector) SetHeader(name, value string) error {
	var err error
	c.change(func(s *state) { err = s.set(&s.said.Header, name, value) })
	return err
}

// SetTrailer sets a trailer. Beyond the bounds it returns [ErrTooMuch].
func (c *Collector) SetTrailer(name, value string) error {
	var err error
	c.change(func(s *state) { err = s.set(&s.said.Trailer, name, value) })
	return err
}

func (c *Collector) change(f func(*state)) {
	s := c.state.Load()
	for s == nil {
		if fresh := new(state); c.state.CompareAndSwap(nil, fresh) {
			s = fresh
		} else {
			s = c.state.Load()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		f(s)
	}
}

// set replaces the field of the name, or adds one.
func (s *state) set(list *[]Field, name, value string) error {
	size := s.size + len(name) + len(value)
	i := slices.IndexFunc(*list, func(f Field) bool { return strings.EqualFold(f.Name, name) })
	if i >= 0 {
		size -= len((*list)[i].Name) + len((*list)[i].Value)
	}
	if size > maxBytes || i < 0 && len(s.said.Header)+len(s.said.Trailer) >= maxFields {
		return ErrTooMuch
	}
	s.size = size
	if i >= 0 {
		(*list)[i] = Field{name, value}
	} else {
		*list = append(*list, Field{name, value})
	}
	return nil
}

// End returns what was set; nil for nothing, and where it has ended before.
func (c *Collector) End() *Metadata {
	s := c.state.Swap(ended)
	if s == nil || s == ended {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return &s.said
}

// The names of what is no header among the pairs of a link: see docs/protocol.md.
const (
	statusName    = ":status"
	trailerPrefix = ":trailer:"
)

// Each yields the metadata as pairs of names and values, as they go over links.
func (m *Metadata) Each(yield func(name, value string) bool) {
	if m.Status != 0 && !yield(statusName, strconv.Itoa(m.Status)) {
		return
	}
	for _, f := range m.Header {
		if !yield(f.Name, f.Value) {
			return
		}
	}
	for _, f := range m.Trailer {
		if !yield(trailerPrefix+f.Name, f.Value) {
			return
		}
	}
}

// Add adds a pair of Each. One that cannot be read is left out: a newer node may send more than this one knows.
func (m *Metadata) Add(name, value string) {
	switch trailer, is := strings.CutPrefix(name, trailerPrefix); {
	case is:
		m.Trailer = append(m.Trailer, Field{trailer, value})
	case name == statusName:
		m.Status, _ = strconv.Atoi(value)
	case !strings.HasPrefix(name, ":"):
		m.Header = append(m.Header, Field{name, value})
	}
}
