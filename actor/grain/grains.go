package grain

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/actor/internal/sender"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/wire"
)

// Grains is the grains of a node: those that it serves, and the way to those of others. It begins with Start, or with its
// node where it was given to that as Option. All its methods may be used by many goroutines at once.
type Grains struct {
	system    *actor.System
	store     store.Store
	form      byte
	idleAfter time.Duration
	maxActive int
	mailbox   int
	among     int
	wrong     error // with the settings or the kinds

	kinds     map[string]*kind
	self      string
	directory directory
	view      atomic.Pointer[view]
	look      atomic.Uint32 // counts the looks for idle grains
	host      actor.PID
	janitor   actor.PID
	// base is the context of what is asked of the store, which bounds how long that takes. It is not the caller's: a caller
	// that stops waiting would leave a write with an unknown outcome.
	base context.Context
	end  context.CancelFunc

	counts struct{ loaded, fenced, discarded atomic.Int64 }

	mu           sync.Mutex
	state        runState
	leaving      atomic.Bool
	empty        chan struct{} // closed when the last activation has gone, while leaving
	once         sync.Once     // closes empty
	reported     chan struct{} // closed when all other nodes know, while leaving
	reportedOnce sync.Once     // closes reported
}

type runState uint8

const (
	made runState = iota
	started
	stopped
)

// The defaults of Config.
const (
	defaultIdleAfter = 10 * time.Minute
	defaultMaxActive = 4 << 20
	defaultMailbox   = 1 << 16
)

// looks is the number of checks of all grains in the time after which they rest.
const looks = 4

// Config holds the settings of New, which are the same on all nodes that serve a kind. The zero Config is fit for kinds without a state.
type Config struct {
	// Store keeps the states. The code that opened it closes it, after the end of the grains.
	Store store.Store
	// IdleAfter is the time without use after which a grain rests, and up to a quarter longer. Default: 10 min.
	IdleAfter time.Duration
	// MaxActive bounds the activations of this node; one more is refused with TooManyGrains. Default: 4,194,304.
	MaxActive int
	// Mailbox bounds the calls and messages that wait for one grain; one more is refused with actor.ErrMailboxFull.
	// Default: 65,536.
	Mailbox int
	// Among lets a grain be active only while at least so many nodes that serve its kind are reached, this one counted. Default:
	// 1. With more than half of the nodes that there are, the smaller side of a split cluster answers ErrNoOwner instead of
	// answering from states that the larger side may have changed.
	Among int
	// NativeState saves states in the native codec, with its schema, instead of JSON: faster, but not readable as text. What is
	// saved is read in either form.
	NativeState bool
}

// New makes the grains of a system, one Grains for each. The node is one of those that share out the grains of these kinds; without
// any it only calls. What is wrong shows at the start.
func New(system *actor.System, config Config, kinds ...Served) *Grains {
	g := &Grains{
		system: system, store: config.Store, form: formJSON,
		idleAfter: max(cmp.Or(config.IdleAfter, defaultIdleAfter), looks*time.Millisecond),
		maxActive: cmp.Or(config.MaxActive, defaultMaxActive),
		mailbox:   min(cmp.Or(config.Mailbox, defaultMailbox), coreMailbox/2),
		among:     max(config.Among, 1),
		kinds:     map[string]*kind{}, empty: make(chan struct{}), reported: make(chan struct{}),
	}
	if config.NativeState {
		g.form = formNative
	}
	if config.IdleAfter < 0 || config.MaxActive < 0 || config.Mailbox < 0 || config.Among < 0 {
		g.wrong = fmt.Errorf("grain: Config has IdleAfter %v, MaxActive %d, Mailbox %d and Among %d: none may be negative, and 0 is the default",
			config.IdleAfter, config.MaxActive, config.Mailbox, config.Among)
	}
	for _, k := range kinds {
		if k := k.served(); g.kinds[k.name] == nil {
			g.kinds[k.name] = k
		} else {
			g.wrong = fmt.Errorf("grain: kind %s is served twice: give each a name of its own", k.name)
		}
	}
	g.directory.grains, g.directory.seed = g, maphash.MakeSeed()
	g.base, g.end = context.WithCancel(context.Background())
	return g
}

// bySystem finds the grains of the sender: *actor.System to *Grains.
var bySystem sync.Map

var systemOf = sender.System.(func(actor.Sender) *actor.System)

// of returns the grains of the sender.
func of(from actor.Sender) (*Grains, error) {
	if g, ok := bySystem.Load(systemOf(from)); ok {
		return g.(*Grains), nil
	}
	return nil, errGrainsNotStarted
}

// Start begins: from now on the node takes its part of the grains. The system must be running. The code that calls Start calls
// Stop, also where the system has stopped before.
func (g *Grains) Start(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != made {
		return fmt.Errorf("grain: Start was called before: make another Grains")
	}
	for _, k := range g.kinds {
		if k.keeps && g.store == nil && g.wrong == nil {
			g.wrong = fmt.Errorf("grain: kind %s has a state and there is no store: give grain.New one, such as grain.Config{Store: memory.New()}", k.name)
		}
	}
	if g.wrong != nil {
		return g.wrong
	}
	if err := g.startProcesses(); err != nil {
		return err
	}
	g.state = started
	return nil
}

// Stop ends the activations in order: what they handle is finished, Deactivate runs, and the nodes that are left own their
// grains. It returns when all have ended and the other nodes send nothing more here, which it waits for at most 3 s; or
// with the error of ctx: what has not ended then is left to the end of the system.
func (g *Grains) Stop(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != started {
		return nil
	}
	g.state = stopped
	defer bySystem.CompareAndDelete(g.system, g)
	defer g.end()
	if _, err := actor.Call[struct{}](ctx, g.system, g.host, farewell{}); err != nil {
		return fmt.Errorf("grain: stop: %w", err)
	}
	select {
	case <-g.empty:
	case <-ctx.Done():
		return fmt.Errorf("grain: stop: %d grains are still active: %w", g.directory.count.Load(), ctx.Err())
	}
	// What others have sent here by the view before comes ahead of their reply to the farewell.
	timeout := time.NewTimer(farewellLimit)
	defer timeout.Stop()
	select {
	case <-g.reported:
	case <-timeout.C:
	case <-ctx.Done():
	}
	_ = actor.Send(g.system, g.janitor, finished{})
	// It handles all that came before: an Exit would go ahead of that.
	if _, err := actor.Call[struct{}](ctx, g.system, g.host, finish{}); err != nil {
		return fmt.Errorf("grain: stop: %w", err)
	}
	return nil
}

// farewellLimit bounds how long Stop waits for other nodes' reply that they send nothing more.
const farewellLimit = 3 * time.Second

// left gets the number of activations that are left when one has gone.
func (g *Grains) left(n int64) {
	if n == 0 && g.leaving.Load() {
		g.once.Do(func() { close(g.empty) })
	}
}

// linkTopic is the topic of Option. Nothing is posted on it: grains talk by processes. It lets a node refuse two Grains.
const linkTopic uint8 = 17

// Option lets the grains start and stop with a node. Give it to the node after that of the system.
func (g *Grains) Option() sabir.NodeOption { return sabir.WithExtension(extension{g}) }

type extension struct{ g *Grains }

func (e extension) Name() string                                   { return "grains" }
func (e extension) Start(ctx context.Context, _ *sabir.Node) error { return e.g.Start(ctx) }
func (e extension) Stop(ctx context.Context) error                 { return e.g.Stop(ctx) }
func (e extension) Topic() uint8                                   { return linkTopic }
func (e extension) Linked(*wire.Link)                              {}
func (e extension) Posted(*wire.Link, []byte)                      {}
func (e extension) Unlinked(*wire.Link, error)                     {}

var _ mesh.Extension = extension{}

// Ready asks the store of a node that serves kinds with a state whether it takes states.
func (e extension) Ready(ctx context.Context) error {
	for _, k := range e.g.kinds {
		if !k.keeps {
			continue
		}
		return e.g.store.Check(ctx)
	}
	return nil
}

// idle reports whether an activation may rest.
func (g *Grains) idle(a *activation) bool { return g.look.Load()-a.used.Load() > looks }

// Owner is the node that owns a grain, as this node sees it now; ErrNoOwner where there is none.
func (g *Grains) Owner(of Address) (string, error) {
	v := g.view.Load()
	if v == nil {
		return "", errGrainsNotStarted
	}
	return v.owner(of)
}

// WaitFor waits until this node knows at least n nodes, itself counted, that serve a kind. A node that has just started knows
// only itself at first, and may activate what is active elsewhere: fencing makes that safe, and waiting makes it unlikely.
func (g *Grains) WaitFor(ctx context.Context, kind string, n int) error {
	for {
		v := g.view.Load()
		if v == nil {
			return errGrainsNotStarted
		}
		known := len(v.kinds[kind])
		if known >= n {
			return nil
		}
		select {
		case <-v.changed:
		case <-g.base.Done():
			return errGrainsNotStarted
		case <-ctx.Done():
			return problem(ErrNoOwner, g.self, "%d nodes are known to serve %s, and %d were waited for (%w)", known, kind, n, ctx.Err())
		}
	}
}

// Stats counts what the grains of a node have done since the start.
type Stats struct {
	Active    int64 `json:"active"`    // activations now
	Loaded    int64 `json:"loaded"`    // times that a state was loaded for an activation
	Fenced    int64 `json:"fenced"`    // activations that learned that another had saved
	Discarded int64 `json:"discarded"` // messages that no activation handled
}

// Stats counts.
func (g *Grains) Stats() Stats {
	return Stats{g.directory.count.Load(), g.counts.loaded.Load(), g.counts.fenced.Load(), g.counts.discarded.Load()}
}
