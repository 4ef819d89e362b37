package sabir

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/outlier"
	"github.com/sabir-go/sabir/internal/recent"
	"github.com/sabir-go/sabir/validate"
)

// Node is one member of a cluster: it runs services and calls actions. Make it with [NewNode]. All its methods, and all
// functions that take it, may be used by many goroutines at once.
type Node struct {
	id          string
	unvouched   sync.Once // the log says once that a principal was dropped
	log         *slog.Logger
	made        limits                 // by the options of NewNode
	limits      atomic.Pointer[limits] // see SetLimits
	waitForNode time.Duration          // see Limits
	middlewares []Middleware
	toward      []toward
	signal      func(kind, action, node string)
	carry       func(context.Context) context.Context // see Middleware.Carry; nil for none
	validator   *validate.Validator
	codecs      []string // see Codecs
	toServe     []Servable
	attached    []func(*Node) (gateway.Gateway, error)
	prepared    []gateway.Gateway // what attached made
	remote      Upstream
	extensions  extensions // see WithExtension
	readiness   readiness  // see Ready

	foreign     foreignNodes     // see SetForeign
	clusterView *membership.View // what the nodes of the cluster offer; nil without one, guarded by tableLock
	joins       []mesh.Config
	join        func(context.Context, *Node, mesh.Config) error // see Join; nil without one
	balances    []balance
	shares      bool                                 // see PreferLocal
	outlier     outlier.Settings                     // see cluster.Outlier
	health      atomic.Uint64                        // counts the changes of which nodes are well
	decisions   atomic.Pointer[membership.Decisions] // of operators, for the whole cluster; replaced under deciding
	deciding    sync.Mutex
	mesh        atomic.Pointer[joinedCluster] // nil outside a cluster, and until the node joins one

	remoteNames   *recent.Cache[string, *remoteAction]      // of names that are in no table
	remoteParents *recent.Cache[remoteParent, *callContext] // of other nodes

	operators atomic.Pointer[operatorsServer] // see AdminAddr

	state   atomic.Int32 // of State
	started time.Time
	epoch   time.Time // when the node was made; the guard's times are counted from here

	lifecycle        lifecycleLock
	running          []*Service        // in the order they started
	waiting          []*published      // started, and not to be reached yet
	offered          membership.Extent // by the services that run; guarded by lifecycle
	lifecycleWrapped bool              // a middleware looks at the life of services
	gateways         []gateway.Gateway
	opened           bool        // the gateways are open
	offers           atomic.Bool // other nodes may call what has started
	watchers         watchers    // nodes that get events for which emitters do not wait

	table     atomic.Pointer[routingTable]
	events    *eventTable
	onceLock  sync.Mutex
	once      map[*Service]*onceService        // see Once
	bindings  map[bindingKey]func() *boundName // nil where the binding is not in use any more
	tableLock sync.Mutex
	changed   chan struct{} // closed and replaced when the table changes

	boundServices map[string]int // the services of bindings, and how many each has; guarded by tableLock
	forgetting    *time.Timer    // see forgetAbsent; guarded by tableLock

	needing   map[*Service]bool // the services that depend on others, and whether they wait for them; see needs.go
	needsLock sync.Mutex        // may be taken under tableLock

	dependencies dependencies

	ended       context.Context // until the services have stopped: streams within the process end then
	end         context.CancelFunc
	oneWay      chan struct{} // holds a value for each call by Send that is under way
	oneWayOver  chan struct{} // has one when the last of them has ended while the node stops
	workers     workers
	admission   *admission.Control
	memory      *memory.Budget // see Limits
	buffers     memory.Limits  // as they were set
	heapFloor   int64          // see Limits
	heapHeld    sync.Once
	releaseHeap func() // set by heapHeld; nil where no floor is held

	streamsHold sync.Map // name of an action to *memory.Expected

	madeAt   option.Site // the line of NewNode
	given    option.Given
	problems []error // of the options
}

// state is one of the words of Node.State, in the order in which a node comes to them.
type state int32

const (
	stateCreated state = iota
	stateStarting
	stateRunning
	stateStopping
	stateStopped
)

func (s state) String() string {
	return [...]string{"not started", "starting", "running", "stopping", "stopped"}[s]
}

// NodeOption is an option of NewNode: [Serve], [Join], [HTTP], [Use], [NodeID], [Logger], [Validator], [Limits],
// [Ready], [Balance], [PreferLocal], [WithUpstream], [WithGateway], [Codecs], [WithExtension], [Options], and those
// of packages, such as channel.Broker.
//
// Serve, Use, Ready, WithGateway, WithExtension, Balance and Codecs add up when they are given several times. Any
// other option is given once: a node with two of it does not start.
type NodeOption interface{ applyNode(*Node) }

type nodeOption func(*Node)

func (o nodeOption) applyNode(n *Node) { o(n) }

// Options makes one option of several, for packages that give a node more than one thing.
func Options(options ...NodeOption) NodeOption {
	return nodeOption(func(n *Node) {
		for _, o := range options {
			o.applyNode(n)
		}
	})
}

// NewNode makes a node; Start or Run starts it.
func NewNode(options ...NodeOption) *Node {
	n := &Node{
		epoch:         time.Now(),
		madeAt:        option.Caller(),
		log:           slog.Default(),
		made:          limits{depth: 100, stop: 10 * time.Second},
		heapFloor:     defaultHeapFloor,
		once:          make(map[*Service]*onceService),
		bindings:      make(map[bindingKey]func() *boundName),
		boundServices: make(map[string]int),
		needing:       make(map[*Service]bool),
		remoteNames:   recent.New[string, *remoteAction](maxRemoteNames),
		remoteParents: recent.New[remoteParent, *callContext](maxRemoteParents),
		changed:       make(chan struct{}),
		admission:     admission.New(),
		oneWay:        make(chan struct{}, maxOneWay),
		oneWayOver:    make(chan struct{}, 1),
		lifecycle:     newLifecycleLock(),
	}
	n.ended, n.end = context.WithCancel(context.Background())
	n.table.Store(&routingTable{})
	n.events = newEventTable(n)
	for _, o := range options {
		o.applyNode(n)
	}
	if n.id == "" {
		n.id = defaultID()
	}
	n.useLimits(n.made)
	if n.validator == nil {
		n.validator = validate.New()
	}
	n.log = safely(n.log)
	n.memory = memory.New(n.buffers)
	n.signal = n.signalTo(n.middlewares)
	n.lifecycleWrapped = wrapsLifecycle(n.middlewares)
	n.carry = carryAll(n.middlewares)
	return n
}

// Serve gives the node services and groups to run from its start. A []*Service goes in as a group.
func Serve(services ...Servable) NodeOption {
	return nodeOption(func(n *Node) { n.toServe = append(n.toServe, services...) })
}

// NodeID names the node, in up to 200 bytes without control characters and *. By default the name is made of the host's and the process's, and of a number for the second node of a process and those after it.
func NodeID(id string) NodeOption {
	at := option.Caller()
	return nodeOptionOnce("NodeID", at, func(n *Node) {
		if bad := identity.BadID(id); bad != "" {
			n.optionProblem(Errorf(CodeInvalidArgument, nameBadOption, "%s: the id %.100q %s", at, id, bad))
			return
		}
		n.id = id
	})
}

// Logger sets the node's logger. Default: slog.Default.
func Logger(log *slog.Logger) NodeOption {
	at := option.Caller()
	return nodeOptionOnce("Logger", at, func(n *Node) {
		if log == nil {
			n.optionProblem(Errorf(CodeInvalidArgument, nameBadOption, "%s: Logger was given nil: leave it out for slog.Default", at))
			return
		}
		n.log = log
	})
}

// Validator gives the node a validator with the program's rules and messages. Register them before the node starts.
func Validator(v *validate.Validator) NodeOption {
	return nodeOptionOnce("Validator", option.Caller(), func(n *Node) { n.validator = v })
}

// Use adds middlewares to a node, a service, an action or an event handler, whichever it is given to; see [Middleware]. The first is
// the outermost, and several Use add up.
func Use(wrappers ...Wrapper) interface {
	NodeOption
	ServiceOption
	ActionOption
	EventOption
} {
	return useOption{middlewaresOf(wrappers)}
}

type useOption struct{ middlewares []Middleware }

func (u useOption) applyNode(n *Node)       { n.middlewares = append(n.middlewares, u.middlewares...) }
func (u useOption) applyService(s *Service) { s.middlewares = append(s.middlewares, u.middlewares...) }
func (u useOption) applyAction(d *definition) {
	d.middlewares = append(d.middlewares, u.middlewares...)
}
func (u useOption) applyEvent(d *eventDefinition) {
	d.middlewares = append(d.middlewares, u.middlewares...)
}

// ID is the node's name.
func (n *Node) ID() string { return n.id }

// State says whether the node is "not started", "starting", "running", "stopping" or "stopped"; it comes to them in this order. Whether calls should come
// to it is another question: see [Node.Ready].
func (n *Node) State() string { return n.stateNow().String() }

func (n *Node) stateNow() state { return state(n.state.Load()) }

// Log is the node's logger.
func (n *Node) Log() *slog.Logger { return n.log }

func (n *Node) callingNode() *Node {
	if n == nil || n.remoteNames == nil { // which NewNode sets and nobody changes: calls read it without a lock
		return nil // see errNoNode
	}
	return n
}

// optionProblem notes an error of an option, for the start; nil is none.
func (n *Node) optionProblem(err error) {
	if err != nil {
		n.problems = append(n.problems, err)
	}
}

// check returns the errors of how the node was made, all at once.
func (n *Node) check() error {
	if n.callingNode() == nil {
		return errNotMade()
	}
	if len(n.problems) == 0 {
		return nil
	}
	all := errors.Join(n.problems...)
	return &Error{Code: CodeInvalidArgument, Name: nameBadOption, Node: n.id, cause: all, Message: "node " + n.id + " cannot start: " + all.Error()}
}

// errNotMade is the error of a node that is nil or the zero Node.
func errNotMade() *Error {
	return &Error{Code: CodeFailedPrecondition, Name: nameNodeState, Message: "this Node was not made by sabir.NewNode, which every node must be"}
}

// compileRules compiles the validation rules of a type; nil when it has none.
func (n *Node) compileRules(t reflect.Type, where option.Site) (*validate.Plan, error) {
	plan, err := n.validator.Compile(t)
	if err != nil {
		return nil, &Error{Code: CodeInvalidArgument, Name: nameBadService, cause: err, Message: where.String() + ": " + err.Error()}
	}
	if plan.Empty() {
		return nil, nil
	}
	return plan, nil
}

// unnamed counts the nodes of this process that were given no name.
var unnamed atomic.Int64

// defaultID names a node after its host and its process. Further nodes of the process have a number too, since two that are called the same cannot join
// one cluster.
func defaultID() string {
	host, _, _ := strings.Cut(hostname(), ".")
	id := host + "-" + itoa(processID)
	if n := unnamed.Add(1); n > 1 {
		id += "-" + itoa(int(n))
	}
	return id
}

var processID = os.Getpid()

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return host
}
