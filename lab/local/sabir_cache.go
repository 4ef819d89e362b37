package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/policy/rediscache"

	"github.com/sabir-go/sabir/lab/child"
)

// keptFor is longer than any measurement.
const keptFor = time.Hour

// Question and Text are the input and the answer of an action with a cache.
type Question struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// Text is an answer of which there is one for each id.
type Text struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
}

const questions = 100

// texts are the answers to all questions.
func texts() []Text {
	all := make([]Text, questions)
	for id := range all {
		all[id] = Text{id, "number " + strconv.Itoa(id)}
	}
	return all
}

// askingEach asks all questions in turn. Handled is how often the handler has run: once for each call, or once for each
// question where answers are kept; nil where nobody counts.
//
//go:noinline
func askingEach(get func(Question) (Text, error), handled *int, kept bool) func(n int) error {
	all, asked := texts(), 0
	return func(n int) error {
		for range n {
			id := asked % questions
			asked++
			answer, err := get(Question{id, "Ada"})
			if err != nil {
				return err
			}
			if answer != all[id] {
				return fmt.Errorf("question %d was answered with %v", id, answer)
			}
		}
		most := asked
		if kept {
			most = min(asked, questions)
		}
		if handled != nil && *handled != most {
			return fmt.Errorf("the handler has run %d times for %d calls", *handled, asked)
		}
		return nil
	}
}

// asking calls an action whose answers a cache keeps by the keys; none if it is nil.
func asking(cache *policy.Cache, keys []string, closes ...func()) (work, error) {
	handled := 0
	var actionOptions []sabir.ActionOption
	if cache != nil {
		actionOptions = append(actionOptions, sabir.Use(policy.Cached{Cache: cache, TTL: keptFor, Keys: keys}))
	}
	service := sabir.NewService("texts")
	sabir.Handle(service, "get", func(_ context.Context, in Question) (Text, error) {
		handled++
		return Text{in.ID, "number " + strconv.Itoa(in.ID)}, nil
	}, actionOptions...)
	node, stop, err := started(sabir.Serve(service))
	if err != nil {
		return work{}, err
	}
	ctx := context.Background()
	return work{do: askingEach(func(in Question) (Text, error) {
		return sabir.Call[Text](ctx, node, "texts.get", in)
	}, &handled, cache != nil), stop: func() {
		stop()
		for _, f := range closes {
			f()
		}
	}}, nil
}

var byID = []string{"id"}

func askingMemory(child.Order) (work, error) { return asking(&policy.Cache{}, nil) }
func askingKeys(child.Order) (work, error)   { return asking(&policy.Cache{}, byID) }
func askingBounded(child.Order) (work, error) {
	return asking(&policy.Cache{MaxEntries: 1000}, byID)
}

func askingRedis(o child.Order) (work, error) {
	store, err := openRedis(o)
	if err != nil {
		return work{}, err
	}
	return asking(&policy.Cache{Store: store}, byID, func() { store.Close() })
}

func openRedis(o child.Order) (*rediscache.Store, error) {
	// No other run's answers are found.
	return rediscache.Open(rediscache.Config{URL: o.Address, Name: "lab" + strconv.FormatInt(time.Now().UnixNano(), 36)})
}

// User and Document are a document of about 1 kB.
type User struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Email  string `json:"email"`
	Active bool   `json:"active"`
	Age    int    `json:"age"`
}

// Document has a serial number, which distinguishes it from others that are otherwise equal.
type Document struct {
	Serial int    `json:"serial"`
	Users  []User `json:"users"`
}

func (d Document) clone() Document {
	d.Users = slices.Clone(d.Users) // strings never change
	return d
}

func documentOf(o child.Order) (Document, error) {
	var d Document
	if err := json.Unmarshal(o.Extra, &d); err != nil {
		return d, fmt.Errorf("the order's document: %w", err)
	}
	if len(d.Users) == 0 {
		return d, errors.New("the order's document has no users")
	}
	return d, nil
}

// setGetEach keeps one of 16 documents and asks for it.
//
//go:noinline
func setGetEach(o child.Order, set func(key string, d *Document) error, get func(key string) (*Document, error)) (func(n int) error, error) {
	document, err := documentOf(o)
	if err != nil {
		return nil, err
	}
	var documents [16]*Document
	var names [16]string
	for i := range documents {
		copied := document.clone()
		copied.Serial = i
		documents[i], names[i] = &copied, "document"+strconv.Itoa(i)
	}
	next, last := 0, len(document.Users)-1
	return func(n int) error {
		for range n {
			key, d := names[next%16], documents[next%16]
			next++
			if err := set(key, d); err != nil {
				return err
			}
			got, err := get(key)
			if err != nil {
				return err
			}
			if got == nil || got.Serial != d.Serial || len(got.Users) != last+1 || got.Users[last].ID != d.Users[last].ID {
				return fmt.Errorf("%s has changed: %v", key, got)
			}
		}
		return nil
	}, nil
}

// setGet has a store of caches keep documents, as a cache would.
func setGet(o child.Order, store policy.Store, stop func()) (work, error) {
	ctx, place, format := context.Background(), store.Open("documents.get", "Document"), store.Codec()
	kept, err := place.Get(ctx, []byte("age"))
	if err != nil {
		return work{}, err
	}
	var name []byte // a cache makes its keys in place, too
	set := func(key string, d *Document) error {
		name = append(name[:0], key...)
		if format == nil {
			return place.Set(ctx, name, d, keptFor, kept.Generation)
		}
		data, err := format.Append(nil, d)
		if err != nil {
			return err
		}
		return place.Set(ctx, name, data, keptFor, kept.Generation)
	}
	get := func(key string) (*Document, error) {
		name = append(name[:0], key...)
		found, err := place.Get(ctx, name)
		if err != nil || !found.Found {
			return nil, err
		}
		if format == nil {
			return found.Answer.(*Document), nil
		}
		d := new(Document)
		return d, format.Decode(found.Answer.([]byte), d)
	}
	do, err := setGetEach(o, set, get)
	return work{do: do, stop: stop}, err
}

func setGetMemory(o child.Order) (work, error) { return setGet(o, policy.InMemory(1000), nil) }

func setGetRedis(o child.Order) (work, error) {
	store, err := openRedis(o)
	if err != nil {
		return work{}, err
	}
	return setGet(o, store, func() { store.Close() })
}

// Post is the input whose key is made.
type Post struct {
	ID     int      `json:"id"`
	Title  string   `json:"title"`
	Author Author   `json:"author"`
	Tags   []string `json:"tags"`
}

// Author is a part of it.
type Author struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

func posts() []Post {
	all := make([]Post, questions)
	for id := range all {
		all[id] = Post{id, "On the engine", Author{"Ada", 36}, []string{"maths", "engines"}}
	}
	return all
}

// keyStore is a store that has one answer to everything, and the last key that it was asked for.
type keyStore struct {
	key    []byte
	answer any
}

func (*keyStore) Codec() codec.Codec                       { return nil }
func (s *keyStore) Open(string, string) policy.Bucket      { return s }
func (*keyStore) Invalidate(context.Context, string) error { return nil }
func (s *keyStore) Get(_ context.Context, key []byte) (policy.Entry, error) {
	s.key = append(s.key[:0], key...)
	return policy.Entry{Answer: s.answer, Found: s.answer != nil}, nil
}

func (s *keyStore) Set(_ context.Context, _ []byte, answer any, _ time.Duration, _ uint64) error {
	s.answer = answer
	return nil
}

// keys has the keys of posts made in calls whose answers a store has at once. Each must be the same each time, and that of no
// other post.
func keys(paths ...string) (work, error) {
	store := new(keyStore)
	service := sabir.NewService("posts")
	sabir.Handle(service, "find", func(context.Context, Post) (int, error) { return 1, nil },
		sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}, Keys: paths}))
	node, stop, err := started(sabir.Serve(service))
	if err != nil {
		return work{}, err
	}
	ctx := context.Background()
	do, err := keysEach(func(p *Post) ([]byte, error) {
		_, err := sabir.Call[int](ctx, node, "posts.find", *p)
		return store.key, err
	})
	return work{do: do, stop: stop}, err
}

// keysEach makes the keys of all posts in turn.
//
//go:noinline
func keysEach(key func(*Post) ([]byte, error)) (func(n int) error, error) {
	all := posts()
	known, seen := make([][]byte, len(all)), map[string]bool{}
	for i := range all {
		made, err := key(&all[i])
		if err != nil {
			return nil, err
		}
		known[i], seen[string(made)] = bytes.Clone(made), true
	}
	if len(seen) != len(all) {
		return nil, errors.New("two inputs have one key")
	}
	next := 0
	return func(n int) error {
		for range n {
			id := next % questions
			next++
			made, err := key(&all[id])
			if err != nil {
				return err
			}
			if !bytes.Equal(made, known[id]) {
				return fmt.Errorf("input %d has the keys %x and %x", id, known[id], made)
			}
		}
		return nil
	}, nil
}

// ByID asks for a document.
type ByID struct {
	ID int `json:"id"`
}

// foundEach asks for a document that is kept. Where it is cloned the caller changes what it gets, and the next must not see it.
//
//go:noinline
func foundEach(o child.Order, cloned bool, get func(ByID) (Document, error)) (func(n int) error, error) {
	document, err := documentOf(o)
	if err != nil {
		return nil, err
	}
	name := document.Users[0].Name
	return func(n int) error {
		for range n {
			got, err := get(ByID{1})
			if err != nil {
				return err
			}
			if len(got.Users) != len(document.Users) || got.Users[0].Name != name {
				return fmt.Errorf("the document has changed: %v", got)
			}
			if cloned {
				got.Users[0].Name = "changed"
			}
		}
		return nil
	}, nil
}

// found calls an action whose answer is a document that is kept.
func found(o child.Order, clone policy.Clone, cloned bool) (work, error) {
	document, err := documentOf(o)
	if err != nil {
		return work{}, err
	}
	handled := 0
	service := sabir.NewService("documents")
	sabir.Handle(service, "get", func(context.Context, ByID) (Document, error) {
		handled++
		return document.clone(), nil
	}, sabir.Use(policy.Cached{TTL: keptFor, Clone: clone}))
	node, stop, err := started(sabir.Serve(service))
	if err != nil {
		return work{}, err
	}
	ctx := context.Background()
	do, err := foundEach(o, cloned, func(in ByID) (Document, error) {
		return sabir.Call[Document](ctx, node, "documents.get", in)
	})
	return work{stop: stop, do: func(n int) error {
		if err := do(n); err != nil {
			return err
		}
		if handled != 1 {
			return fmt.Errorf("the handler has run %d times", handled)
		}
		return nil
	}}, err
}

func clonedByJSON(o child.Order) (work, error) { return found(o, policy.CloneJSON(), true) }

var sabirCloneWorks = map[string]func(child.Order) (work, error){"clone with": func(o child.Order) (work, error) {
	return found(o, policy.CloneWith(Document.clone), true)
}}
