package simulation

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// Names of the processes that each node has.
const (
	workerName  = "worker"
	senderName  = "sender"
	watcherName = "watcher"
)

// workers is the group of all workers.
const workers = "workers"

// Messages of the processes.
type (
	// burst has a sender send notes to a worker.
	burst struct {
		To    string // a node
		Count int
		Pad   []byte
	}
	// note is one message of a sender, which counts them.
	note struct {
		Number int
		Pad    []byte
	}
	// watch has a watcher monitor a process.
	watch struct{ Watched *watched }
	// lodge has a worker start a lodger, which the caller links with.
	lodge struct{}
	// tie has a lodger link with a new one of another node.
	tie struct{ Pair *pairOfLodgers }
	// hello is answered when all that was sent before has arrived.
	hello struct{}
)

// watched is a monitor.
type watched struct {
	step  int
	by    *incarnation
	pid   actor.PID
	downs int // guarded by record.mu
}

// pairOfLodgers is two linked processes of two nodes.
type pairOfLodgers struct {
	step int
	to   string // the node of the second

	mu     sync.Mutex
	a, b   actor.PID
	linked bool // both sides know of the link
}

type worker struct{ record *record }

func (w *worker) Init(p *actor.Process, r *record) error {
	w.record = r
	return p.Join(workers)
}

func (w *worker) Note(p *actor.Process, n note) error {
	w.record.noted([2]actor.PID{p.Sender(), p.PID()}, n.Number)
	return nil
}

func (w *worker) Ask(p *actor.Process, in request) (answer, error) {
	w.record.handle(in.ID)
	work(p.Context(), in.Work/16)
	return answer{in.ID, p.PID().Node(), len(in.Pad)}, nil
}

func (w *worker) Lodge(p *actor.Process, _ lodge) (actor.PID, error) {
	ref, err := actor.Spawn(p.System(), lodgerBehavior, struct{}{})
	return ref.PID(), err
}

type sender struct{ sent map[string]int }

func (s *sender) Burst(p *actor.Process, b burst) error {
	for range b.Count {
		s.sent[b.To]++
		if err := actor.Send(p, actor.Name{Name: workerName, Node: b.To}, note{s.sent[b.To], b.Pad}); err != nil {
			return nil // the rest would only come the later
		}
	}
	return nil
}

type watcher struct {
	record *record
	by     map[actor.MonitorRef]*watched
}

func (w *watcher) Watch(p *actor.Process, m watch) error {
	w.by[p.Monitor(m.Watched.pid)] = m.Watched
	return nil
}

func (w *watcher) Down(_ *actor.Process, d actor.Down) error {
	w.record.mu.Lock()
	defer w.record.mu.Unlock()
	w.by[d.Ref].downs++
	return nil
}

type lodger struct{}

var errNoLodging = errors.New("the other process does not answer")

func (*lodger) Tie(p *actor.Process, m tie) error {
	other, err := actor.Call[actor.PID](p.Context(), p, actor.Name{Name: workerName, Node: m.Pair.to}, lodge{})
	if err != nil {
		return errNoLodging
	}
	m.Pair.mu.Lock()
	m.Pair.a, m.Pair.b = p.PID(), other
	m.Pair.mu.Unlock()
	if err := p.Link(other); err != nil {
		return err
	}
	if _, err := actor.Call[bool](p.Context(), p, other, hello{}); err != nil {
		return errNoLodging // links end the other one too, if it has the link
	}
	m.Pair.mu.Lock()
	m.Pair.linked = true
	m.Pair.mu.Unlock()
	return nil
}

func (*lodger) Hello(*actor.Process, hello) (bool, error) { return true, nil }

var (
	workerBehavior = actor.Define("worker", (*worker).Init, actor.OnMessage((*worker).Note), actor.OnCall((*worker).Ask), actor.OnCall((*worker).Lodge))
	senderBehavior = actor.Define("sender", func(s *sender, _ *actor.Process, _ struct{}) error {
		s.sent = map[string]int{}
		return nil
	}, actor.OnMessage((*sender).Burst))
	watcherBehavior = actor.Define("watcher", func(w *watcher, _ *actor.Process, r *record) error {
		w.record, w.by = r, map[actor.MonitorRef]*watched{}
		return nil
	}, actor.OnMessage((*watcher).Watch), actor.OnMessage((*watcher).Down))
	lodgerBehavior = actor.Define[lodger, struct{}]("lodger", nil, actor.OnMessage((*lodger).Tie), actor.OnCall((*lodger).Hello))
)

// spawnAll starts the processes of a node.
func (i *incarnation) spawnAll(r *record) error {
	workerRef, err := actor.Spawn(i.system, workerBehavior, r, actor.SpawnConfig{Name: workerName})
	if err != nil {
		return err
	}
	i.worker = workerRef.PID()
	if _, err = actor.Spawn(i.system, senderBehavior, struct{}{}, actor.SpawnConfig{Name: senderName}); err != nil {
		return err
	}
	_, err = actor.Spawn(i.system, watcherBehavior, r, actor.SpawnConfig{Name: watcherName})
	return err
}

// note has the sender of a node send messages to the worker of another one. What arrives is checked as it does.
func (w *world) note(m, other *member, s Step) {
	if i := m.current(); i != nil {
		_ = actor.Send(i.system, actor.Name{Name: senderName}, burst{other.name, 1 + s.Size%64, make([]byte, s.Size)}) // the node may be stopping
	}
}

// ask calls the worker of another node.
func (w *world) ask(ctx context.Context, m, other *member, s Step) {
	i := m.current()
	if i == nil {
		return
	}
	ctx, cancel := s.callContext(ctx)
	defer cancel()
	in := request{ID: w.record.id(), Work: s.Work, Pad: make([]byte, s.Size)}
	out, err := actor.Call[answer](ctx, i.system, actor.Name{Name: workerName, Node: other.name}, in)
	if err == nil && (out.ID != in.ID || out.Pad != len(in.Pad) || out.Node != other.name) {
		w.record.fail("step %d: the answer of a process to call %d with %d bytes is %+v", s.Number, in.ID, len(in.Pad), out)
	}
	w.later(func() {
		if times := w.record.handledOf(in.ID); times > 1 || err == nil && times == 0 {
			w.record.fail("step %d: a process handled a call %d times: %v", s.Number, times, err)
		}
	})
}

// monitor has the watcher of a node monitor the worker of another one.
func (w *world) monitor(m, other *member, s Step) {
	i, target := m.current(), other.current()
	if i == nil || target == nil {
		return
	}
	of := &watched{step: s.Number, by: i, pid: target.worker}
	if actor.Send(i.system, actor.Name{Name: watcherName}, watch{of}) == nil {
		w.mu.Lock()
		w.watched = append(w.watched, of)
		w.mu.Unlock()
	}
}

// link links two new processes, one of each node.
func (w *world) link(m, other *member, s Step) {
	i := m.current()
	if i == nil {
		return
	}
	ref, err := actor.Spawn(i.system, lodgerBehavior, struct{}{})
	if err != nil {
		return // the node is stopping
	}
	pair := &pairOfLodgers{step: s.Number, to: other.name}
	if actor.Tell(i.system, ref, (*lodger).Tie, tie{pair}) == nil {
		w.mu.Lock()
		w.pairs = append(w.pairs, pair)
		w.mu.Unlock()
	}
}

// alive reports whether a process runs.
func (w *world) alive(pid actor.PID) bool {
	m := w.member(pid.Node())
	if m == nil { // the zero PID
		return false
	}
	i := m.current()
	return i != nil && i.system.Alive(pid)
}

// groupDifference reports whether a node's view of the group of workers is not that of the world.
func (w *world) groupDifference(of *incarnation) bool {
	var want []actor.PID
	for _, m := range w.members {
		if i := m.current(); i != nil {
			want = append(want, i.worker)
		}
	}
	got := slices.Clone(of.system.Members(workers))
	slices.SortFunc(got, actor.PID.Compare)
	slices.SortFunc(want, actor.PID.Compare)
	return !slices.Equal(got, want)
}

// finalProcesses ends the processes that are left, when nothing is broken, and checks that links and monitors tell of it.
func (w *world) finalProcesses() {
	if wrong := w.brokenLinks(); wrong != "" {
		w.record.fail("when all is quiet, %s", wrong)
	}
	w.eachDown(func(of *watched) {
		if alive := w.alive(of.pid); of.downs > 1 || !alive && of.downs == 0 {
			w.record.fail("step %d: a monitor reported %d times the end or loss of a process; alive: %t", of.step, of.downs, alive)
		}
	})
	for _, m := range w.members {
		if i := m.current(); i != nil {
			_ = i.system.Kill(i.worker)
		}
	}
	for _, p := range w.pairs {
		if m := w.member(p.a.Node()); m != nil {
			_ = m.current().system.Kill(p.a) // it may have ended before
		}
	}
	time.Sleep(5 * time.Second)
	for _, p := range w.pairs {
		if p.linked && w.alive(p.b) {
			w.record.fail("step %d: a process lives 5 s after the one that it is linked with has ended", p.step)
		}
	}
	w.eachDown(func(of *watched) {
		if of.downs != 1 {
			w.record.fail("step %d: a monitor reported the end of a process %d times", of.step, of.downs)
		}
	})
}

// brokenLinks describes a link of which one side has ended, and the other not.
func (w *world) brokenLinks() string {
	for _, p := range w.pairs {
		switch a, b := w.alive(p.a), w.alive(p.b); {
		case p.b.Zero():
		case a && !b:
			return "a process lives on whose link with another has ended"
		case b && !a && p.linked:
			return "a process lives on which another one was linked with that has ended"
		}
	}
	return ""
}

// eachDown calls check with each monitor whose process is still there.
func (w *world) eachDown(check func(*watched)) {
	for _, of := range w.watched {
		if of.by != w.member(of.by.name).current() {
			continue
		}
		w.record.mu.Lock()
		seen := *of
		w.record.mu.Unlock()
		check(&seen)
	}
}
