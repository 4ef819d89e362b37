package store

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/grainstore"
)

func init() { grainstore.Register("mem", memoryDriver{}) }

// Memory makes an empty store in the memory of the process: for tests and the first ten minutes. What it holds ends with the process,
// and other processes do not see it. It is as large as what is saved in it. At most one Config may be given; of it, MaxState is used.
//
// Open has the same at mem://; at an address with a name, such as mem://shop, stores share their grains for as long as one of
// them is open. Revisions are numbers of one count for the whole process, so none is used twice.
func Memory(config ...Config) Store {
	s, err := Open(context.Background(), "mem://", config...)
	if err != nil {
		panic(err) // the driver refuses no address without a name
	}
	return s
}

// versions is the last version of any instance.
var versions atomic.Uint64

// instance is the grains of all stores that were opened at one address.
type instance struct {
	mu    sync.RWMutex
	slots map[name]grainstore.Slot
	open  int // stores; under the lock of places
}

func newInstance() *instance { return &instance{slots: make(map[name]grainstore.Slot)} }

var instances = struct {
	sync.Mutex
	named map[string]*instance
}{named: make(map[string]*instance)}

type memoryDriver struct{}

func (memoryDriver) Open(_ context.Context, at *url.URL, _ grainstore.Config) (grainstore.Backend, error) {
	if at.Opaque != "" || at.User != nil || at.Path != "" && at.Path != "/" || at.RawQuery != "" || at.Fragment != "" {
		return nil, fmt.Errorf("store: the address %q is not mem:// or mem://name", at.Redacted())
	}
	if at.Host == "" {
		return &memoryBackend{instance: newInstance(), leave: func() {}}, nil
	}
	instances.Lock()
	defer instances.Unlock()
	p := instances.named[at.Host]
	if p == nil {
		p = newInstance()
		instances.named[at.Host] = p
	}
	p.open++
	return &memoryBackend{instance: p, leave: func() {
		instances.Lock()
		defer instances.Unlock()
		if p.open--; p.open == 0 {
			delete(instances.named, at.Host)
		}
	}}, nil
}

// memoryBackend is one store's use of an instance.
type memoryBackend struct {
	*instance
	leave func()
}

func (b *memoryBackend) Read(_ context.Context, kind, key string) (grainstore.Slot, error) {
	b.mu.RLock()
	slot := b.slots[name{kind, key}]
	b.mu.RUnlock()
	slot.State = bytes.Clone(slot.State) // what is in the map is never changed
	return slot, nil
}

func (b *memoryBackend) Write(_ context.Context, kind, key string, expect uint64, slot grainstore.Slot) (uint64, error) {
	slot.State = bytes.Clone(slot.State)
	n := name{kind, key}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.slots[n].Version != expect {
		return 0, ErrFenced
	}
	slot.Version = versions.Add(1)
	if slot.Gone {
		// Nothing has to stay: there are no copies of writes under way, and versions are counted elsewhere.
		delete(b.slots, n)
	} else {
		b.slots[n] = slot
	}
	return slot.Version, nil
}

// Check has nothing to ask.
func (b *memoryBackend) Check(context.Context) error { return nil }

func (b *memoryBackend) Close() error {
	b.leave()
	return nil
}
