package lease

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/grainstore"
)

// defaultTTL is the time for which a lease holds without being renewed, if Config does not say otherwise.
const defaultTTL = 3 * time.Second

const (
	minTTL = 100 * time.Millisecond
	maxTTL = time.Hour
	// maxValue is the number of bytes of a lease's value.
	maxValue = 4096
)

// kind is that of the records in the store. Grains cannot have it by accident, as theirs are names of a program's types.
const kind = "sabir.lease"

// What can go wrong with leases, beside the errors of package actor/grain/store.
var (
	// errNoStore: the leases were made without a store. Give [New] the one that all nodes share.
	errNoStore = sabir.NewError(sabir.CodeFailedPrecondition, "NoLeaseStore",
		"leases need a store that all nodes share: open one with store.Open(ctx, \"nats://…\", \"redis://…\" or \"kubernetes://\"), and give it to lease.New")
	// ErrLost: the lease is not held any more. Another process may hold it.
	ErrLost = sabir.NewError(sabir.CodeUnavailable, "LeaseLost", "the lease is not held any more")
	// errBadLease: the name, the value or the time of a lease is not allowed, or its record in the store cannot be read.
	errBadLease = sabir.NewError(sabir.CodeInvalidArgument, "BadLease", "the lease cannot be used")
	// ErrNoName: no process of the cluster has the name.
	ErrNoName = sabir.NewError(sabir.CodeNotFound, "NoName", "no process of the cluster has the name")
)

// Config is the settings of [New]. The zero value is right for most programs.
type Config struct {
	// TTL is the time for which a lease holds without being renewed, 100 ms to 1 h, for leases that these Leases acquire. A
	// shorter time makes a lease of a dead process free earlier, and is lost to a shorter outage of the store. Default: 3 s.
	TTL time.Duration
	// Holder names this process to people who ask who holds a lease; at most 256 bytes. Default: the id of the node that the
	// leases were given to, else the name of the host and the number of the process.
	Holder string
	// Log gets a line when a lease is acquired or lost. Default: slog's.
	Log *slog.Logger
}

// Leases acquires leases in one store. All its methods may be used by many goroutines at once.
type Leases struct {
	store store.Store
	ttl   time.Duration
	wrong error // with the settings; of each use

	mu     sync.Mutex
	holder string
	log    *slog.Logger
}

// New makes the leases of a store, which the caller closes after their last use. Wrong settings are errors of each use.
func New(st store.Store, config Config) *Leases {
	l := &Leases{store: st, ttl: config.TTL, holder: config.Holder, log: config.Log}
	if l.ttl == 0 {
		l.ttl = defaultTTL
	}
	switch {
	case st == nil:
		l.wrong = errNoStore
	case l.ttl < minTTL || l.ttl > maxTTL:
		l.wrong = problem("TTL is %s; it is %s to %s", l.ttl, minTTL, maxTTL)
	case len(l.holder) > 256:
		l.wrong = problem("Holder has %d bytes; the limit is 256", len(l.holder))
	}
	return l
}

func problem(format string, args ...any) error {
	return sabir.Errorf(errBadLease.Code, errBadLease.Name, errBadLease.Message+": "+format, args...)
}

// of sets what the settings left to the node.
func (l *Leases) of(n *sabir.Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder == "" {
		l.holder = n.ID()
	}
	if l.log == nil {
		l.log = n.Log()
	}
}

func (l *Leases) settings() (holder string, log *slog.Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if holder = l.holder; holder == "" {
		host, _ := os.Hostname()
		holder = fmt.Sprintf("%s/%d", host, os.Getpid())
	}
	if log = l.log; log == nil {
		log = slog.Default()
	}
	return holder, log
}

// Holder is who has a lease.
type Holder struct {
	Name  string // Config.Holder
	Token uint64
	Value string // what the holder gave to [Leases.Acquire]
}

// Holder returns who has the lease of a name; ok is false if nobody has. It asks the store, which does not know whether the holder is alive:
// it may have died within the lease's time.
func (l *Leases) Holder(ctx context.Context, name string) (holder Holder, ok bool, err error) {
	if err := l.check(name, ""); err != nil {
		return Holder{}, false, err
	}
	_, r, err := l.load(ctx, name)
	if err != nil || r.Tenure == "" {
		return Holder{}, false, err
	}
	return Holder{r.Holder, r.Token, r.Value}, true, nil
}

func (l *Leases) check(name, value string) error {
	switch {
	case l.wrong != nil:
		return l.wrong
	case name == "" || len(name) > grainstore.MaxKey:
		return problem("a name has 1 to %d bytes, and %.40q has %d", grainstore.MaxKey, name, len(name))
	case len(value) > maxValue:
		return problem("the value of lease %.40q has %d bytes; the limit is %d", name, len(value), maxValue)
	}
	return nil
}

// record is the state of a lease in the store. It stays when the lease is released, so that tokens never begin again.
type record struct {
	Token  uint64        `json:"token"`
	Tenure string        `json:"tenure,omitempty"` // a random name for the time from acquiring it to its end; "" if it was released
	Holder string        `json:"holder,omitempty"`
	Value  string        `json:"value,omitempty"`
	TTL    time.Duration `json:"ttl,omitempty"` // in nanoseconds: that of the holder, which others wait for
}

// load reads the record of a lease and its revision; both are zero for a lease that nobody ever had.
func (l *Leases) load(ctx context.Context, name string) (revision uint64, r record, err error) {
	e, err := l.store.Load(ctx, kind, name)
	if err != nil || e.Revision == 0 || len(e.State) == 0 {
		return e.Revision, record{}, err
	}
	if err := json.Unmarshal(e.State, &r); err != nil {
		return 0, record{}, problem("the record of lease %q in the store cannot be read: %w", name, err)
	}
	if r.TTL < 0 || r.TTL > maxTTL {
		r.TTL = maxTTL
	}
	return e.Revision, r, nil
}

func (l *Leases) save(ctx context.Context, name string, r record, revision uint64) (uint64, error) {
	state, err := json.Marshal(r)
	if err != nil {
		return 0, err
	}
	return l.store.Save(ctx, kind, name, state, revision)
}

func newTenure() string { return rand.Text() }
