package memory

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/engine"
)

func init() { engine.Register("mem", driver{}) }

type driver struct{}

// instances are the stores by name; each is removed when its last user closes it.
var instances = struct {
	sync.Mutex
	byName map[string]*instance
}{byName: make(map[string]*instance)}

type instance struct {
	name  string
	users int

	mu       sync.Mutex
	channels map[string]*queue
}

func (driver) Open(_ context.Context, at *url.URL, _ engine.Config) (engine.Store, error) {
	if at.RawQuery != "" || at.User != nil {
		return nil, fmt.Errorf("channel: the address %s is not mem:// and a name", at.Redacted())
	}
	instances.Lock()
	defer instances.Unlock()
	name := at.Host + at.Path
	p := instances.byName[name]
	if p == nil || name == "" {
		p = &instance{name: name, channels: make(map[string]*queue)}
	}
	if name != "" {
		instances.byName[name] = p
	}
	p.users++
	return &store{instance: p}, nil
}

// store is one user of a place.
type store struct {
	instance *instance
	mu       sync.Mutex
	groups   []*consumer
	closed   bool
}

func (s *store) Features() engine.Features {
	return engine.Features{Dedup: true, Sequences: true, Lease: true, KeepAge: true, KeepBytes: true, KeepMessages: true}
}

func (s *store) Declare(_ context.Context, spec engine.Spec) error {
	s.instance.mu.Lock()
	defer s.instance.mu.Unlock()
	q := s.instance.channels[spec.Name]
	if q == nil {
		q = newQueue()
		s.instance.channels[spec.Name] = q
	}
	q.mu.Lock()
	q.spec = spec
	q.mu.Unlock()
	return nil
}

func (s *store) queue(name string) (*queue, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, engine.ErrClosed
	}
	s.instance.mu.Lock()
	defer s.instance.mu.Unlock()
	if q := s.instance.channels[name]; q != nil {
		return q, nil
	}
	return nil, fmt.Errorf("channel %s was not declared", name)
}

func (s *store) Publish(ctx context.Context, name string, batch []*engine.Outgoing) {
	q, err := s.queue(name)
	if err == nil {
		err = ctx.Err()
	}
	for _, m := range batch {
		if m.Err = err; err == nil {
			q.add(m, time.Now())
		}
	}
}

func (s *store) Join(_ context.Context, spec engine.GroupSpec) (engine.Group, error) {
	q, err := s.queue(spec.Channel)
	if err != nil {
		return nil, err
	}
	c := &consumer{group: q.join(spec), wait: spec.AckWait, ended: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = append(s.groups, c)
	return c, nil
}

func (s *store) Stats(_ context.Context, name string) (engine.Stats, error) {
	q, err := s.queue(name)
	if err != nil {
		return engine.Stats{}, err
	}
	return q.stats(time.Now()), nil
}

func (s *store) DeadLetters(_ context.Context, name string, limit int) ([]engine.DeadLetter, error) {
	q, err := s.queue(name)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.trim(time.Now())
	var list []engine.DeadLetter
	for _, e := range q.entries {
		if !e.gone && len(list) < limit {
			list = append(list, engine.DeadLetter{Key: strconv.FormatUint(e.sequence, 10), Message: e.message()})
		}
	}
	return list, nil
}

func (s *store) Remove(_ context.Context, name string, keys ...string) (removed int, err error) {
	q, err := s.queue(name)
	if err != nil {
		return 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.entries {
		if !e.gone && slices.Contains(keys, strconv.FormatUint(e.sequence, 10)) {
			q.drop(e)
			removed++
		}
	}
	return removed, nil
}

// Check has nothing to ask.
func (s *store) Check(context.Context) error { return nil }

func (s *store) Close() error {
	s.mu.Lock()
	groups := s.groups
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	for _, c := range groups {
		_ = c.Close() // it never fails
	}
	instances.Lock()
	defer instances.Unlock()
	if s.instance.users--; s.instance.users == 0 && instances.byName[s.instance.name] == s.instance {
		delete(instances.byName, s.instance.name)
	}
	return nil
}

// message copies what a caller may change.
func (e *entry) message() engine.Message {
	m := e.kept
	m.Data = slices.Clone(m.Data)
	m.Attributes = maps.Clone(m.Attributes)
	m.ID = strings.Clone(m.ID)
	return m
}
