package actor

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
)

// Services makes the node offer the service $processes: what the command line and the dashboard ask a node about its
// processes, they ask by calling its actions. See [sabir.Offering].
func (e extension) Services() []sabir.Servable {
	s := sabir.NewService("$processes", sabir.Doc("tells about the processes of the node it runs on"))
	sabir.Handle(s, "list", func(_ context.Context, in Query) (Listing, error) { return e.s.List(in) },
		sabir.Doc("lists processes, those with the most messages waiting first"))
	sabir.Handle(s, "tree", func(ctx context.Context, in Query) (Overview, error) { return e.s.Tree(ctx, in) },
		sabir.Doc("shows supervisors with the processes below them"))
	return []sabir.Servable{s}
}

// Query selects processes, as the input of $processes.list and $processes.tree.
type Query struct {
	// Match is a part of the name, behaviour or PID, or a whole one with * for anything; "" for all. Of list only.
	Match string `json:"match,omitempty"`
	// Sort is SortWaiting, which is also meant by "", SortAge or SortName. Of list only.
	Sort string `json:"sort,omitempty"`
	// Limit bounds the processes in the answer. Default and maximum: MaxListed.
	Limit int `json:"limit,omitempty"`
	// Depth bounds the levels below a root supervisor. Default and maximum: MaxDepth. Of tree only.
	Depth int `json:"depth,omitempty"`
}

// The orders of a Listing.
const (
	SortWaiting = "waiting" // the most messages first
	SortAge     = "age"     // the oldest first
	SortName    = "name"    // by name, then behaviour; those without a name last
)

// These constants bound an answer, so that it fits into one message however many processes there are.
const (
	MaxListed = 1000 // processes
	MaxDepth  = 20   // levels of a tree
	maxWards  = 100  // children of one supervisor in a tree
	maxLoose  = 20   // unsupervised processes next to a tree
)

// Summary is the short form of Info, without what may be long.
type Summary struct {
	PID       PID           `json:"pid,omitzero"`
	Name      string        `json:"name,omitempty"`
	Behavior  string        `json:"behavior,omitempty"`
	Parent    PID           `json:"parent,omitzero"`
	Life      string        `json:"life,omitempty"` // as in Info
	Waiting   int           `json:"waiting"`
	Bound     int           `json:"bound,omitempty"`
	Links     int           `json:"links,omitempty"`
	Monitored int           `json:"monitored,omitempty"` // monitors of it
	Age       time.Duration `json:"age,omitempty"`       // in nanoseconds
}

// Listing describes processes of a node.
type Listing struct {
	Node      string    `json:"node"`
	Count     int       `json:"count"` // all processes of the node
	Lost      Lost      `json:"lost"`
	Processes []Summary `json:"processes"`
	More      int       `json:"more"` // others that match
}

// Overview describes the supervision trees of a node.
type Overview struct {
	Node  string   `json:"node"`
	Count int      `json:"count"` // all processes of the node
	Lost  Lost     `json:"lost"`
	Trees []Branch `json:"trees"` // from supervisors that have no supervisor
	More  int      `json:"more"`  // root supervisors that are not in Trees

	Loose     []Summary `json:"loose"` // some unsupervised processes, the most messages waiting first
	MoreLoose int       `json:"moreLoose"`
}

// Branch is a process in a tree with the processes that it supervises.
type Branch struct {
	Summary
	ID       string   `json:"id,omitempty"`       // that its supervisor knows it by
	Restart  string   `json:"restart,omitempty"`  // when its supervisor restarts it: permanent, transient or temporary
	Restarts int      `json:"restarts,omitempty"` // how often it did
	State    string   `json:"state,omitempty"`    // its state in its supervisor: running, restarting, ending or ended
	Strategy string   `json:"strategy,omitempty"` // of a supervisor
	Children []Branch `json:"children,omitempty"` // of a supervisor
	Unlisted int      `json:"unlisted,omitempty"` // children that are not in Children
	Problem  string   `json:"problem,omitempty"`  // why it is not known what is below
}

// Overseer is implemented by the states of processes that supervise others, such as supervisors: their Inspect returns an
// Oversight.
type Overseer interface {
	Inspector
	Oversees()
}

// Oversight describes the processes that one supervises.
type Oversight struct {
	Strategy string `json:"strategy"`
	Wards    []Ward `json:"wards"`
	Unlisted int    `json:"unlisted,omitempty"` // that are not in Wards
}

// Ward is a supervised process.
type Ward struct {
	ID       string `json:"id,omitempty"`
	PID      PID    `json:"pid,omitzero"` // zero while it has no process
	Behavior string `json:"behavior"`
	Restart  string `json:"restart"`
	Restarts int    `json:"restarts"`
	State    string `json:"state"`
}

// List describes the processes of this node. It looks at all of them and keeps only as many as it returns.
func (s *System) List(q Query) (Listing, error) {
	order, err := q.order()
	if err != nil {
		return Listing{}, err
	}
	best, found, now := ranked{order: order, limit: q.limit()}, 0, s.age()
	for pid := range s.listed() {
		if one, _, ok := s.summary(pid, now); ok && q.matches(&one) {
			found++
			best.add(one)
		}
	}
	list := best.list()
	return Listing{s.nodeName(), s.Count(), s.Lost(), list, found - len(list)}, nil
}

// age returns how long the system has existed.
func (s *System) age() time.Duration { return s.clock.Now().Sub(s.started) }

// summary describes a process and its place in a supervision tree. now is the age of the system.
func (s *System) summary(pid PID, now time.Duration) (one Summary, kin supervision, ok bool) {
	at := s.processes.find(pid.id)
	if at == nil || pid.home != s.home || pid.id == 0 {
		return one, kin, false
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.id != pid.id || at.phase == terminated {
		return one, kin, false
	}
	_, kin.overseer = at.state.(Overseer)
	kin.supervised = at.supervised
	one = Summary{PID: pid, Behavior: at.behavior.name, Parent: at.parent, Life: at.phase.String(), Waiting: int(at.waiting.Load()),
		Bound: int(at.bound), Age: max(0, now-at.started)}
	if r := at.rareState(); r != nil {
		one.Name = r.name
	}
	if m := at.cold; m != nil {
		one.Links, one.Monitored = m.links.len(), m.watched.len()
	}
	if at.linkedToParent {
		one.Links++
	}
	return one, kin, true
}

// supervision is a process's place in a tree.
type supervision struct {
	overseer   bool // it supervises others
	supervised bool // its parent supervises it, if that is running
}

func (q Query) limit() int {
	if q.Limit <= 0 {
		return MaxListed
	}
	return min(q.Limit, MaxListed)
}

func (q Query) order() (func(a, b *Summary) int, error) {
	switch q.Sort {
	case SortWaiting, "":
		return func(a, b *Summary) int { return cmp.Or(b.Waiting-a.Waiting, cmp.Compare(b.Age, a.Age)) }, nil
	case SortAge:
		return func(a, b *Summary) int { return cmp.Compare(b.Age, a.Age) }, nil
	case SortName:
		return func(a, b *Summary) int {
			return cmp.Or(cmp.Compare(nameless(a), nameless(b)), strings.Compare(a.Name, b.Name), strings.Compare(a.Behavior, b.Behavior),
				cmp.Compare(b.Age, a.Age))
		}, nil
	}
	return nil, sabir.Errorf(sabir.CodeInvalidArgument, "BadQuery", "processes cannot be sorted by %q: want %s, %s or %s", q.Sort, SortWaiting, SortAge, SortName)
}

func nameless(one *Summary) int {
	if one.Name == "" {
		return 1
	}
	return 0
}

func (q Query) matches(one *Summary) bool {
	return q.Match == "" || matchesPattern(one.Name, q.Match) || matchesPattern(one.Behavior, q.Match) || matchesPattern(one.PID.String(), q.Match)
}

// matchesPattern reports whether a text contains the pattern or, if the pattern has a *, matches it as a whole.
func matchesPattern(text, pattern string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return strings.Contains(text, pattern)
	}
	text, ok := strings.CutPrefix(text, parts[0])
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		var found bool
		_, text, found = strings.Cut(text, part)
		ok = ok && found
	}
	return ok && strings.HasSuffix(text, parts[last])
}

// ranked keeps the first limit of many, in order.
type ranked struct {
	order func(a, b *Summary) int
	limit int
	kept  []Summary // up to twice the limit
	full  bool      // kept[limit-1] is the worst that still counts
}

func (r *ranked) add(one Summary) {
	if r.full && r.order(&one, &r.kept[r.limit-1]) >= 0 {
		return
	}
	r.kept = append(r.kept, one)
	if len(r.kept) == 2*r.limit {
		r.kept, r.full = r.list(), true
	}
}

// list is those that were kept, in order.
func (r *ranked) list() []Summary {
	slices.SortStableFunc(r.kept, func(a, b Summary) int { return r.order(&a, &b) })
	if len(r.kept) == 0 {
		return []Summary{} // in JSON, not null
	}
	return r.kept[:min(len(r.kept), r.limit)]
}

// inspectTime bounds how long one supervisor may take to describe its children, and treeTime all of them together.
const (
	inspectTime = 500 * time.Millisecond
	treeTime    = 3 * time.Second
)

// Tree describes the supervisors of this node with their children, and some of the unsupervised processes. It asks one
// supervisor after the other, so it may show what never existed at one moment; one that does not answer is shown with its
// Problem.
func (s *System) Tree(ctx context.Context, q Query) (Overview, error) {
	byWaiting, _ := Query{}.order()
	loose, nobodys := ranked{order: byWaiting, limit: maxLoose}, 0
	o := Overview{Node: s.nodeName(), Count: s.Count(), Lost: s.Lost(), Trees: []Branch{}}
	var roots []Summary
	now := s.age()
	for pid := range s.listed() {
		one, kin, ok := s.summary(pid, now)
		switch {
		case !ok || kin.supervised && s.oversees(one.Parent):
		case !kin.overseer:
			nobodys++
			loose.add(one)
		case len(roots) == q.limit():
			o.More++
		default:
			roots = append(roots, one)
		}
	}
	o.Loose = loose.list()
	o.MoreLoose = nobodys - len(o.Loose)
	ctx, cancel := context.WithTimeout(ctx, treeTime)
	defer cancel()
	g := treeBuilder{s, ctx, q.limit(), MaxDepth}
	if q.Depth > 0 {
		g.depth = min(q.Depth, MaxDepth)
	}
	slices.SortStableFunc(roots, func(a, b Summary) int { return cmp.Compare(b.Age, a.Age) })
	for i, root := range roots {
		if g.left == 0 {
			o.More += len(roots) - i
			break
		}
		g.left--
		b := Branch{Summary: root}
		g.grow(&b, 1)
		o.Trees = append(o.Trees, b)
	}
	return o, nil
}

func (s *System) oversees(pid PID) bool {
	_, kin, ok := s.summary(pid, 0)
	return ok && kin.overseer
}

// treeBuilder builds a tree by asking its supervisors.
type treeBuilder struct {
	system *System
	ctx    context.Context
	left   int // branches that still may be
	depth  int
}

// grow asks a supervisor for its children.
func (g *treeBuilder) grow(b *Branch, level int) {
	if b.Life == initializing.String() {
		b.Problem = "it is starting"
		return
	}
	ctx, cancel := context.WithTimeout(g.ctx, inspectTime)
	defer cancel()
	state, err := g.system.Inspect(ctx, b.PID)
	sight, ok := state.(Oversight)
	switch {
	case ctx.Err() != nil:
		b.Problem = "it does not answer"
		return
	case err != nil:
		b.Problem = err.Error()
		return
	case !ok:
		b.Problem = "it tells nothing about those that it looks after"
		return
	}
	b.Strategy, b.Unlisted = sight.Strategy, sight.Unlisted
	if level > g.depth {
		b.Unlisted += len(sight.Wards)
		return
	}
	n := min(len(sight.Wards), maxWards, g.left)
	b.Unlisted += len(sight.Wards) - n
	g.left -= n
	for _, ward := range sight.Wards[:n] {
		one, kin, alive := g.system.summary(ward.PID, g.system.age())
		if !alive {
			one = Summary{PID: ward.PID, Behavior: ward.Behavior}
		}
		below := Branch{Summary: one, ID: ward.ID, Restart: ward.Restart, Restarts: ward.Restarts, State: ward.State}
		if alive && kin.overseer {
			g.grow(&below, level+1)
		}
		b.Children = append(b.Children, below)
	}
}
