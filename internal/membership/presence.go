package membership

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/identity"
)

// PresenceConfig is the configuration of [NewPresence].
type PresenceConfig struct {
	// Key is the cluster key; nil for none. With it messages of programs without it are ignored.
	Key []byte
	// Observe lists the others without announcing this node, as observers do.
	Observe bool
	// Interval is the interval at which a node announces itself; 5 s where 0.
	Interval time.Duration
	// Limit is the time that a node may be silent before it is Failed; three intervals where 0. The time in which this node has
	// lost the broker does not count.
	Limit time.Duration
	// Log is the logger; slog.Default where nil.
	Log *slog.Logger
}

const (
	defaultInterval   = 5 * time.Second
	answerTimeout     = 100 * time.Millisecond // by Start, after its own question came back; twice where nothing answers
	echoTimeout       = 2 * time.Second
	firstRetry        = 200 * time.Millisecond // after a question that no node answered; the pause grows up to the interval
	minAnswerInterval = 50 * time.Millisecond  // between two answers, however many nodes ask
	maxPresence       = 16 << 10               // bytes of a message
)

// Presence is a membership by messages that all nodes get, as over a broker. Each node announces itself when it starts, in
// intervals and when another asks, and sends a goodbye when it stops.
//
// A node that is killed is Failed after the limit, or as soon as its links are lost and the owner calls [Presence.Failed].
type Presence struct {
	broadcast func(message []byte) error
	config    PresenceConfig
	mac       []byte

	lock         sync.Mutex // guards what follows
	self         Member
	roster       *Roster // nil before Start and after Stop
	present      map[string]*presentNode
	disconnected bool // the broker is lost
	duplicate    error
	keyMismatch  bool      // a message came of a node whose key is another
	lastSent     int64     // sign.When of the last one
	lastAnswer   time.Time // when this node last announced itself
	answerDue    bool      // another node has asked since
	askDue       bool      // this node has to ask the others

	running sync.WaitGroup
	echo    chan struct{} // this node's own question came back
	wake    chan struct{}
	done    chan struct{}
}

// presentNode is a node that has announced itself.
type presentNode struct {
	member   Member
	lastSent int64 // of its last message, by its own clock
	lastSeen time.Time
}

// NewPresence makes a membership whose messages go to all nodes by broadcast, this one included; the owner passes the messages
// that arrive to [Presence.Heard]. broadcast may lose messages and is called by one goroutine at a time.
func NewPresence(broadcast func(message []byte) error, config PresenceConfig) *Presence {
	if config.Interval <= 0 {
		config.Interval = defaultInterval
	}
	if config.Limit <= 0 {
		config.Limit = 3 * config.Interval
	}
	if config.Log == nil {
		config.Log = slog.Default()
	}
	p := &Presence{broadcast: broadcast, config: config, present: make(map[string]*presentNode), echo: make(chan struct{}, 1), wake: make(chan struct{}, 1), done: make(chan struct{})}
	if config.Key != nil {
		sum := hmac.New(sha256.New, config.Key)
		sum.Write([]byte("sabir presence 1"))
		p.mac = sum.Sum(nil)
	}
	return p
}

// presenceMessage is sent as JSON behind 32 bytes: its HMAC-SHA-256, or zeros without a key.
type presenceMessage struct {
	Kind string `json:"kind"` // here, bye, who
	ID   string `json:"id"`
	When int64  `json:"when"` // nanoseconds of the sender's clock, rising, so that an old message is not taken for a new one
	identity.Meta
}

// Start announces this node and asks the others to do so; see [Membership]. It waits at least a tenth of a second for their answers, so that
// a node of the same id shows, and nodes of which none has this one's key: these are its errors.
func (p *Presence) Start(ctx context.Context, self Member, watch func(Change)) error {
	for self.Instance == 0 {
		self.Instance = rand.Uint64()
	}
	if bad := identity.BadID(self.ID); bad != "" {
		return fmt.Errorf("the id %.100q of this node %s", self.ID, bad)
	}
	p.lock.Lock()
	switch {
	case p.self.ID != "":
		p.lock.Unlock()
		return errStarted
	case watch == nil:
		p.lock.Unlock()
		return errNoWatch
	}
	p.self, p.roster = self, NewRoster(watch)
	p.lock.Unlock()
	err := p.ask(ctx)
	if err == nil && p.alone() { // or the others are slow
		err = p.ask(ctx)
	}
	if err != nil {
		p.Stop(ctx)
		return err
	}
	p.lock.Lock()
	err = p.duplicate
	if err == nil && p.keyMismatch && len(p.present) == 0 {
		err = errors.New("wrong key: the nodes of this cluster have another cluster key than this one, or one of them has none")
	}
	p.lock.Unlock()
	if err != nil {
		p.end()
		return err
	}
	p.send("here")
	p.running.Go(p.loop)
	return nil
}

func (p *Presence) alone() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.present) == 0 && !p.keyMismatch && p.duplicate == nil
}

// ask asks the other nodes to announce themselves, and waits for them: their answers come not long after the question came
// back to this node.
func (p *Presence) ask(ctx context.Context) error {
	asked := time.Now()
	p.send("who")
	timer := time.NewTimer(echoTimeout)
	defer timer.Stop()
	select {
	case <-p.echo:
		timer.Reset(max(answerTimeout, 2*time.Since(asked)))
	case <-timer.C:
		return nil // the others announce themselves in time
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Members lists the other nodes; see [Membership].
func (p *Presence) Members() []Member {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.roster == nil {
		return nil
	}
	return p.roster.Members()
}

// Receive takes a message that any node broadcast. It does not block.
func (p *Presence) Receive(message []byte) {
	s, proved, ok := p.read(message)
	if !ok {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.roster == nil {
		return
	}
	if s.Instance == p.self.Instance && s.ID == p.self.ID {
		select {
		case p.echo <- struct{}{}:
		default:
		}
		return
	}
	if !proved {
		p.keyMismatch = true
	}
	if s.Kind == "who" { // nodes with another key too, so that they can find out
		p.answerDue = true
		p.signal()
		return
	}
	if !proved {
		return
	}
	if s.ID == p.self.ID {
		if !p.config.Observe && p.duplicate == nil && s.Kind == "here" {
			p.duplicate = fmt.Errorf("same node id: a node %q is there already", s.ID)
			p.config.Log.Error("another node has this one's id: give one of them another", "node", p.self.ID)
		}
		return
	}
	known := p.present[s.ID]
	switch {
	case known != nil && s.When <= known.lastSent && s.Instance == known.member.Instance, known == nil && len(p.present) >= identity.MaxMembers:
		return
	case s.Kind == "bye":
		if known != nil && known.member.Instance == s.Instance {
			delete(p.present, s.ID)
			p.roster.Drop(s.ID, Left)
		}
		return
	case known != nil && s.Instance < known.member.Instance:
		return // of a run before
	}
	m := Member{ID: s.ID, Addr: s.Addr, Zone: s.Zone, Labels: s.Labels, Guest: s.Guest, Instance: s.Instance}
	p.present[s.ID] = &presentNode{m, s.When, time.Now()}
	p.roster.Set(s.ID, m)
}

// read decodes and checks a message. proved reports whether its sender has the same key as this node.
func (p *Presence) read(message []byte) (s presenceMessage, proved, ok bool) {
	if len(message) < sha256.Size || len(message) > maxPresence {
		return s, false, false
	}
	proved = hmac.Equal(message[:sha256.Size], p.proof(message[sha256.Size:]))
	err := json.Unmarshal(message[sha256.Size:], &s)
	return s, proved, err == nil && identity.BadID(s.ID) == "" && (s.Addr == "" || identity.CheckURL(s.Addr) == nil) && (s.Kind == "here" || s.Kind == "bye" || s.Kind == "who")
}

func (p *Presence) proof(text []byte) []byte {
	if p.mac == nil {
		return make([]byte, sha256.Size)
	}
	sum := hmac.New(sha256.New, p.mac)
	sum.Write(text)
	return sum.Sum(nil)
}

// send broadcasts a message about this node. Start, then loop and at last Stop call it and no other function, so that messages go
// in the order of presenceMessage.When.
func (p *Presence) send(kind string) {
	if p.config.Observe && kind != "who" {
		return
	}
	p.lock.Lock()
	p.lastSent = max(p.lastSent+1, time.Now().UnixNano())
	s := presenceMessage{kind, p.self.ID, p.lastSent, identity.Meta{Addr: p.self.Addr, Zone: p.self.Zone, Labels: p.self.Labels, Guest: p.self.Guest, Instance: p.self.Instance}}
	if kind == "here" {
		p.lastAnswer, p.answerDue = time.Now(), false
	}
	p.lock.Unlock()
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	if err := p.broadcast(append(p.proof(text), text...)); err != nil {
		p.config.Log.Debug("presence not announced", "node", p.self.ID, "error", err)
	}
}

// Failed drops a member, see [Membership], and asks it to announce itself if it is still there.
func (p *Presence) Failed(id string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.roster == nil || p.present[id] == nil {
		return
	}
	delete(p.present, id)
	p.roster.Drop(id, Failed)
	p.askDue = true
	p.signal()
}

// Interrupted takes note that the connection to the broker is lost, or that it is back. Silence meanwhile does not
// count against members.
func (p *Presence) Interrupted(lost bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.disconnected = lost
	for _, there := range p.present {
		there.lastSeen = time.Now()
	}
	if !lost {
		p.answerDue, p.lastAnswer = true, time.Time{}
		p.signal()
	}
}

func (p *Presence) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// loop announces this node in intervals and when asked, and drops members that have been silent for too long. While it knows
// no other node it asks again: a broker of several servers may not have had a path to the others yet.
func (p *Presence) loop() {
	ticker := time.NewTicker(p.config.Interval)
	defer ticker.Stop()
	pause := firstRetry
	again := time.NewTimer(pause)
	defer again.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-ticker.C:
			p.dropSilent()
			p.send("here")
		case <-again.C:
			if !p.alone() {
				continue
			}
			p.send("who")
			if pause *= 2; pause < p.config.Interval {
				again.Reset(pause)
			}
		case <-p.wake:
			p.lock.Lock()
			asks, pause := p.askDue, minAnswerInterval-time.Since(p.lastAnswer)
			p.askDue = false
			p.lock.Unlock()
			if asks {
				p.send("who")
			}
			if pause > 0 {
				select {
				case <-p.done:
					return
				case <-time.After(pause):
				}
			}
			p.lock.Lock()
			owes := p.answerDue
			p.lock.Unlock()
			if owes {
				p.send("here")
			}
		}
	}
}

func (p *Presence) dropSilent() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.disconnected || p.roster == nil { // it may have stopped
		return
	}
	for id, there := range p.present {
		if time.Since(there.lastSeen) > p.config.Limit {
			delete(p.present, id)
			p.roster.Drop(id, Failed)
		}
	}
}

// Stop sends a goodbye; see [Membership].
func (p *Presence) Stop(context.Context) error {
	if p.end() {
		p.send("bye") // the last message: another would bring this node back
	}
	return nil
}

// end undoes Start, and reports whether there was anything to undo.
func (p *Presence) end() bool {
	p.lock.Lock()
	roster := p.roster
	p.roster = nil
	p.lock.Unlock()
	if roster == nil {
		return false
	}
	close(p.done)
	p.running.Wait()
	roster.Stop()
	return true
}
