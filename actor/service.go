package actor

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/inspect"
	"github.com/sabir-go/sabir/actor/internal/supervising"
)

// The bounds of an answer, so that it fits into one message however many processes there are.
const (
	maxListed    = 1000 // processes
	maxTreeDepth = 20   // levels
)

// The orders of a list: see inspect.Query.
const (
	sortWaiting = "waiting"
	sortAge     = "age"
	sortName    = "name"
)

// Services makes the node offer the service $processes: what the command line and the dashboard ask a node about its
// processes, they ask by calling its actions. See [sabir.Extension].
func (e extension) Services() []sabir.Servable {
	s := sabir.NewService("$processes", sabir.Doc("tells about the processes of the node it runs on"))
	sabir.Handle(s, "list", func(_ context.Context, in inspect.Query) (inspect.List, error) { return e.s.List(in) },
		sabir.Doc("lists processes, those with the most messages waiting first"))
	sabir.Handle(s, "tree", func(ctx context.Context, in inspect.Query) (inspect.Trees, error) { return e.s.Tree(ctx, in) },
		sabir.Doc("shows supervisors with the processes below them"))
	return []sabir.Servable{s}
}

// These constants bound a tree.
const (
	maxChildren     = 100 // of one supervisor
	maxUnsupervised = 20  // unsupervised processes next to it
)

// List describes the processes of this node. It looks at all of them and keeps only as many as it returns. An unknown
// q.Sort is an error with CodeInvalidArgument.
func (s *System) List(q inspect.Query) (inspect.List, error) {
	order, err := orderOf(q)
	if err != nil {
		return inspect.List{}, err
	}
	best, found, now := ranked{order: order, limit: limitOf(q)}, 0, s.age()
	for pid := range s.listed() {
		if one, ok := s.summary(pid, now); ok && one.matches(q.Match) {
			found++
			best.add(one)
		}
	}
	list := best.documents()
	return inspect.List{Node: s.nodeName(), Count: s.Count(), Stats: s.Stats(), Processes: list, More: found - len(list)}, nil
}

// age returns how long the system has existed.
func (s *System) age() time.Duration { return s.clock.Now().Sub(s.started) }

// summary is a process before it becomes a document: the texts of PIDs are made only of those that are shown.
type summary struct {
	pid, parent PID
	inspect.Process
	supervisor bool // it supervises others
	supervised bool // its parent supervises it, if that is running
}

// document returns the summary with the texts of its PIDs.
func (one *summary) document() inspect.Process {
	d := one.Process
	d.PID, d.Parent = pidText(one.pid), pidText(one.parent)
	return d
}

// pidText is a PID in a document, "" for none.
func pidText(pid PID) string {
	if pid.Zero() {
		return ""
	}
	return pid.String()
}

// summary describes a process and its place in a supervision tree. now is the age of the system.
func (s *System) summary(pid PID, now time.Duration) (one summary, ok bool) {
	at := s.processes.find(pid.id)
	if at == nil || pid.home != s.home || pid.id == 0 {
		return one, false
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.id != pid.id || at.phase == terminated {
		return one, false
	}
	one = summary{pid: pid, parent: at.parent, supervised: at.supervised, Process: inspect.Process{Behavior: at.behavior.name,
		Life: at.phase.String(), Waiting: int(at.waiting.Load()), Bound: int(at.bound), Age: max(0, now-at.started)}}
	_, one.supervisor = at.state.(supervising.State)
	if r := at.rareState(); r != nil {
		one.Name = r.name
	}
	if m := at.cold; m != nil {
		one.Links, one.Monitored = m.links.len(), m.watched.len()
	}
	if at.linkedToParent {
		one.Links++
	}
	return one, true
}

func limitOf(q inspect.Query) int {
	if q.Limit <= 0 {
		return maxListed
	}
	return min(q.Limit, maxListed)
}

func moreWaiting(a, b *summary) int { return cmp.Or(b.Waiting-a.Waiting, older(a, b)) }

func older(a, b *summary) int { return cmp.Compare(b.Age, a.Age) }

func firstByName(a, b *summary) int {
	return cmp.Or(cmp.Compare(nameless(a), nameless(b)), strings.Compare(a.Name, b.Name), strings.Compare(a.Behavior, b.Behavior), older(a, b))
}

func orderOf(q inspect.Query) (func(a, b *summary) int, error) {
	switch q.Sort {
	case sortWaiting, "":
		return moreWaiting, nil
	case sortAge:
		return older, nil
	case sortName:
		return firstByName, nil
	}
	return nil, sabir.Errorf(sabir.CodeInvalidArgument, errBadQuery.Name, "processes cannot be sorted by %q: want %s, %s or %s",
		q.Sort, sortWaiting, sortAge, sortName)
}

func nameless(one *summary) int {
	if one.Name == "" {
		return 1
	}
	return 0
}

func (one *summary) matches(pattern string) bool {
	return pattern == "" || matchesPattern(one.Name, pattern) || matchesPattern(one.Behavior, pattern) || matchesPattern(one.pid.String(), pattern)
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
	order func(a, b *summary) int
	limit int
	kept  []summary // up to twice the limit
	full  bool      // kept[limit-1] is the worst that still counts
}

func (r *ranked) add(one summary) {
	if r.full && r.order(&one, &r.kept[r.limit-1]) >= 0 {
		return
	}
	r.kept = append(r.kept, one)
	if len(r.kept) == 2*r.limit {
		r.kept, r.full = r.list(), true
	}
}

// list returns the entries that were kept, in order.
func (r *ranked) list() []summary {
	slices.SortStableFunc(r.kept, func(a, b summary) int { return r.order(&a, &b) })
	return r.kept[:min(len(r.kept), r.limit)]
}

// documents is list for those who asked. It is never nil, which in JSON would be null.
func (r *ranked) documents() []inspect.Process {
	list := r.list()
	documents := make([]inspect.Process, len(list))
	for i := range list {
		documents[i] = list[i].document()
	}
	return documents
}

// inspectTime bounds how long one supervisor may take to describe its children, and treeTime all of them together.
const (
	inspectTime = 500 * time.Millisecond
	treeTime    = 3 * time.Second
)

// Tree describes the supervisors of this node with their children, and some of the unsupervised processes. It asks one
// supervisor after the other, so it may show what never existed at one moment; one that does not answer is shown with its
// Problem.
func (s *System) Tree(ctx context.Context, q inspect.Query) (inspect.Trees, error) {
	single, singles := ranked{order: moreWaiting, limit: maxUnsupervised}, 0
	out := inspect.Trees{Node: s.nodeName(), Count: s.Count(), Stats: s.Stats(), Trees: []inspect.Tree{}}
	var roots []summary
	now := s.age()
	for pid := range s.listed() {
		one, ok := s.summary(pid, now)
		switch {
		case !ok || one.supervised && s.isSupervisor(one.parent):
		case !one.supervisor:
			singles++
			single.add(one)
		case len(roots) == limitOf(q):
			out.More++
		default:
			roots = append(roots, one)
		}
	}
	out.Unsupervised = single.documents()
	out.MoreUnsupervised = singles - len(out.Unsupervised)
	ctx, cancel := context.WithTimeout(ctx, treeTime)
	defer cancel()
	b := treeBuilder{s, ctx, limitOf(q), maxTreeDepth}
	if q.Depth > 0 {
		b.depth = min(q.Depth, maxTreeDepth)
	}
	slices.SortStableFunc(roots, func(a, b summary) int { return older(&a, &b) })
	for i := range roots {
		if b.left == 0 {
			out.More += len(roots) - i
			break
		}
		b.left--
		tree := inspect.Tree{Process: roots[i].document()}
		b.grow(&tree, roots[i].pid, 1)
		out.Trees = append(out.Trees, tree)
	}
	return out, nil
}

func (s *System) isSupervisor(pid PID) bool {
	one, ok := s.summary(pid, 0)
	return ok && one.supervisor
}

// treeBuilder builds a tree by asking its supervisors.
type treeBuilder struct {
	system *System
	ctx    context.Context
	left   int // processes that the answer still takes
	depth  int
}

// grow asks a supervisor for its children.
func (b *treeBuilder) grow(tree *inspect.Tree, pid PID, level int) {
	if tree.Life == initializing.String() {
		tree.Problem = "it is starting"
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, inspectTime)
	defer cancel()
	state, err := b.system.Inspect(ctx, pid)
	supervisor, ok := state.(supervising.Supervisor)
	switch {
	case ctx.Err() != nil:
		tree.Problem = "it does not answer"
		return
	case err != nil:
		tree.Problem = err.Error()
		return
	case !ok:
		tree.Problem = "it does not say whom it supervises"
		return
	}
	tree.Strategy, tree.Unlisted = supervisor.Strategy, supervisor.Unlisted
	if level > b.depth {
		tree.Unlisted += len(supervisor.Children)
		return
	}
	n := min(len(supervisor.Children), maxChildren, b.left)
	tree.Unlisted += len(supervisor.Children) - n
	b.left -= n
	for _, child := range supervisor.Children[:n] {
		tree.Children = append(tree.Children, b.child(child, level))
	}
}

// child is a supervised process with those below it.
func (b *treeBuilder) child(c supervising.Child, level int) inspect.Tree {
	tree := inspect.Tree{Process: inspect.Process{PID: c.PID, Behavior: c.Behavior}, ID: c.ID, Restart: c.Restart, Restarts: c.Restarts, State: c.State}
	pid, err := parsePID(c.PID)
	if err != nil {
		return tree // it has no process now
	}
	one, alive := b.system.summary(pid, b.system.age())
	if !alive {
		return tree
	}
	tree.Process = one.document()
	if one.supervisor {
		b.grow(&tree, pid, level+1)
	}
	return tree
}
