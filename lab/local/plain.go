package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// The limits: what is left of each work when nothing stands between the caller and the function.
var plainWorks = map[string]func(child.Order) (work, error){
	"call":              func(child.Order) (work, error) { return plainSums(add), nil },
	"empty":             plainCounting,
	"middlewares":       closures,
	"middlewares bare":  func(child.Order) (work, error) { return plainSums(add), nil },
	"tracking without":  func(child.Order) (work, error) { return plainSums(add), nil },
	"tracking with":     plainTracked,
	"validator none":    func(child.Order) (work, error) { return plainAges(false, false), nil },
	"validator passes":  func(child.Order) (work, error) { return plainAges(true, false), nil },
	"validator fails":   func(child.Order) (work, error) { return plainAges(true, true), nil },
	"telemetry off":     func(child.Order) (work, error) { return plainSums(add), nil },
	"telemetry metrics": plainTimed,
	"telemetry tracing": plainTimed,
	"telemetry both":    plainTimed,
	"cache none":        plainAsking,
	"cache memory":      lookups,
	"cache keys":        lookups,
	"cache lru":         lookups,
	"cache redis":       plainRedis,
	"set-get memory":    plainSetGet,
	"set-get redis":     plainSetGetRedis,
	"key dynamic":       func(child.Order) (work, error) { return plainKeys(wholeKey) },
	"key static":        func(child.Order) (work, error) { return plainKeys(idKey) },
	"clone without":     func(o child.Order) (work, error) { return plainFound(o, false) },
	"clone with":        func(o child.Order) (work, error) { return plainFound(o, true) },
	"events":            plainEvents,
	"among actions":     plainAmongActions,
	"among patterns":    plainAmongPatterns(false),
	"among new names":   plainAmongPatterns(true),
}

// function is the call of most tables.
type function func(context.Context, Pair) (int, error)

func plainSums(f function) work {
	ctx := context.Background()
	return work{do: sums(func(in Pair) (int, error) { return f(ctx, in) })}
}

func plainCounting(child.Order) (work, error) {
	given := 0
	return work{do: counting(func() (int, error) { given++; return given, nil })}, nil
}

// closures is a chain of functions that count and call the next.
func closures(o child.Order) (work, error) {
	passed, chain := 0, function(add)
	for range o.Size {
		next := chain
		chain = func(ctx context.Context, in Pair) (int, error) {
			passed++
			return next(ctx, in)
		}
	}
	w := plainSums(chain)
	w.do = passing(w.do, &passed, o.Size)
	return w, nil
}

// plainTracked counts in and out who is inside.
func plainTracked(child.Order) (work, error) {
	var inside atomic.Int64
	return plainSums(func(ctx context.Context, in Pair) (int, error) {
		inside.Add(1)
		defer inside.Add(-1)
		return add(ctx, in)
	}), nil
}

// plainTimed reads the clock before and after, and adds up calls and time.
func plainTimed(child.Order) (work, error) {
	var calls, nanoseconds atomic.Int64
	return plainSums(func(ctx context.Context, in Pair) (int, error) {
		begun := time.Now()
		sum, err := add(ctx, in)
		calls.Add(1)
		nanoseconds.Add(int64(time.Since(begun)))
		return sum, err
	}), nil
}

var errAge = errors.New("age must be 150 or less")

// plainAges checks the fields by hand.
func plainAges(checked, fails bool) work {
	later := func(in AnyPerson) (int, error) {
		if checked && (in.Name == "" || len(in.Name) > 64) {
			return 0, errors.New("name must have 1 to 64 characters")
		}
		if checked && (in.Age < 0 || in.Age > 150) {
			return 0, fmt.Errorf("%w, not %d", errAge, in.Age)
		}
		return in.Age + 1, nil
	}
	return work{do: ages(fails, func(name string, age int) (int, error) { return later(AnyPerson{name, age}) },
		func(err error) bool { return errors.Is(err, errAge) })}
}

func plainAsking(child.Order) (work, error) {
	return work{do: askingEach(func(in Question) (Text, error) {
		return Text{in.ID, "number " + strconv.Itoa(in.ID)}, nil
	}, nil, false)}, nil
}

// locked is a map that many may use.
type locked[K comparable, V any] struct {
	lock sync.RWMutex
	kept map[K]V
}

func (m *locked[K, V]) get(key K) (V, bool) {
	m.lock.RLock()
	defer m.lock.RUnlock()
	v, ok := m.kept[key]
	return v, ok
}

func (m *locked[K, V]) set(key K, value V) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.kept[key] = value
}

// lookups finds answers in a map whose key is the question.
func lookups(child.Order) (work, error) {
	answers := &locked[Question, Text]{kept: map[Question]Text{}}
	for id, text := range texts() {
		answers.set(Question{id, "Ada"}, text)
	}
	return work{do: askingEach(func(in Question) (Text, error) {
		text, _ := answers.get(in)
		return text, nil
	}, nil, true)}, nil
}

// plainRedis asks Redis for the text alone.
func plainRedis(o child.Order) (work, error) {
	conn, err := dialRedis(o.Address)
	if err != nil {
		return work{}, err
	}
	for id, text := range texts() {
		if _, err := conn.ask("SET", "plain:"+strconv.Itoa(id), text.Text); err != nil {
			return work{}, err
		}
	}
	return work{stop: func() { conn.Close() }, do: askingEach(func(in Question) (Text, error) {
		text, err := conn.ask("GET", "plain:"+strconv.Itoa(in.ID))
		return Text{in.ID, string(text)}, err
	}, nil, true)}, nil
}

func plainSetGet(o child.Order) (work, error) {
	documents := &locked[string, *Document]{kept: map[string]*Document{}}
	do, err := setGetEach(o, func(key string, d *Document) error { documents.set(key, d); return nil },
		func(key string) (*Document, error) {
			d, _ := documents.get(key)
			return d, nil
		})
	return work{do: do}, err
}

// plainSetGetRedis keeps the document as JSON, made once; nobody reads more of what comes back than its serial number.
func plainSetGetRedis(o child.Order) (work, error) {
	conn, err := dialRedis(o.Address)
	if err != nil {
		return work{}, err
	}
	made, known := map[*Document]string{}, map[string]*Document{}
	do, err := setGetEach(o, func(key string, d *Document) error {
		if made[d] == "" {
			data, err := json.Marshal(d)
			if err != nil {
				return err
			}
			made[d], known[string(data)] = string(data), d
		}
		_, err := conn.ask("SET", "plain:"+key, made[d])
		return err
	}, func(key string) (*Document, error) {
		data, err := conn.ask("GET", "plain:"+key)
		return known[string(data)], err
	})
	return work{do: do, stop: func() { conn.Close() }}, err
}

// plainKeys makes keys by hand.
func plainKeys(key func([]byte, *Post) []byte) (work, error) {
	var buffer []byte
	do, err := keysEach(func(p *Post) ([]byte, error) {
		buffer = key(buffer[:0], p)
		return buffer, nil
	})
	return work{do: do}, err
}

func idKey(key []byte, p *Post) []byte { return strconv.AppendInt(key, int64(p.ID), 10) }

func wholeKey(key []byte, p *Post) []byte {
	key = append(idKey(key, p), '|')
	key = append(append(key, p.Title...), '|')
	key = append(append(key, p.Author.Name...), '|')
	key = append(strconv.AppendInt(key, int64(p.Author.Age), 10), '|')
	for _, tag := range p.Tags {
		key = append(append(key, tag...), '|')
	}
	return key
}

// plainFound finds the document in a map, and copies it by hand where the caller is to have one of its own.
func plainFound(o child.Order, cloned bool) (work, error) {
	document, err := documentOf(o)
	if err != nil {
		return work{}, err
	}
	documents := &locked[ByID, Document]{kept: map[ByID]Document{{1}: document}}
	do, err := foundEach(o, cloned, func(in ByID) (Document, error) {
		d, _ := documents.get(in)
		if cloned {
			d = d.clone()
		}
		return d, nil
	})
	return work{do: do}, err
}

// plainEvents calls functions in a row.
func plainEvents(o child.Order) (work, error) {
	var how listening
	if err := json.Unmarshal(o.Extra, &how); err != nil {
		return work{}, fmt.Errorf("the order's events: %w", err)
	}
	t := new(tally)
	var handlers []func(context.Context, UserCreated) error
	for range o.Size {
		handlers = append(handlers, func(_ context.Context, in UserCreated) error { t.take(in.ID); return nil })
	}
	ctx := context.Background()
	return work{do: t.events(o.Size, how.Payload, func(id int) error {
		if !how.Payload {
			id = 0
		}
		for _, handle := range handlers {
			if err := handle(ctx, UserCreated{id, "Ada"}); err != nil {
				return err
			}
		}
		return nil
	})}, nil
}
