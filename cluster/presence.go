package cluster

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
)

// PresenceConfig is the configuration of [NewPresence].
type PresenceConfig struct {
	// Key is the cluster key; nil for none. With it messages of those who do not have it are thrown away.
	Key []byte
	// Observe lists the others without telling them of this node, as guests do.
	Observe bool
	// Interval is how often a node says that it is there; 5 s where 0.
	Interval time.Duration
	// Limit is how long a node may be silent before it is Failed; three intervals where 0. The time in which this node has
	// lost the broker does not count.
	Limit time.Duration
	// Log is where it logs; slog.Default where nil.
	Log *slog.Logger
}

const (
	defaultInterval = 5 * time.Second
	answersAwaited  = 100 * time.Millisecond // by Start, after its own question came back; twice where nobody answers
	echoAwaited     = 2 * time.Second
	askAgain        = 200 * time.Millisecond // who is there, where nobody answered; the pause grows up to the interval
	answerAtMost    = 50 * time.Millisecond  // two answers to who is there are that far apart, however many ask
	maxPresence     = 16 << 10               // bytes of a message
)

// Presence is a membership by messages that all nodes get, as over a broker: each says that it is there when it starts, in
// intervals and when somebody asks, and says goodbye when it stops.
//
// A node that is killed is Failed after the limit, or as soon as its links are lost and [Presence.Failed] says so.
type Presence struct {
	broadcast func(message []byte) error
	config    PresenceConfig
	mac       []byte

	lock     sync.Mutex // guards what follows
	self     Member
	roster   *roster // nil before Start and after Stop
	present  map[string]*presentNode
	away     bool // the broker is lost
	twin     error
	stranger bool      // somebody was heard whose key is another
	said     int64     // sign.When of the last one
	answered time.Time // when this node last said that it is there
	owes     bool      // somebody asked since
	asks     bool      // who is there

	running sync.WaitGroup
	echo    chan struct{} // this node's own question came back
	wake    chan struct{}
	done    chan struct{}
}

// presentNode is a node that was heard.
type presentNode struct {
	member Member
	when   int64 // of its last message, by its own clock
	heard  time.Time
}

// NewPresence makes a membership whose messages go to all nodes by broadcast, this one included; the owner gives what
// comes to [Presence.Heard]. broadcast may lose messages and is called by one goroutine at a time.
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

// sign is what a node says, in JSON behind the 32 bytes of an HMAC-SHA-256 of it, which are zero without a key.
type sign struct {
	Kind string `json:"kind"` // here, bye, who
	ID   string `json:"id"`
	When int64  `json:"when"` // nanoseconds of the sender's clock, rising, so that an old message is not taken for a new one
	meta
}

// Start tells the others and asks who is there; see [Membership]. It waits at least a tenth of a second for their answers, so that
// a node of the same id shows, and nodes of which none has this one's key: these are its errors.
func (p *Presence) Start(ctx context.Context, self Member, watch func(Change)) error {
	for self.Instance == 0 {
		self.Instance = rand.Uint64()
	}
	if bad := badID(self.ID); bad != "" {
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
	p.self, p.roster = self, newRoster(watch)
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
	err = p.twin
	if err == nil && p.stranger && len(p.present) == 0 {
		err = errors.New("wrong key: the nodes of this cluster have another cluster key than this one, or one of them has none")
	}
	p.lock.Unlock()
	if err != nil {
		p.end()
		return err
	}
	p.say("here")
	p.running.Go(p.loop)
	return nil
}

func (p *Presence) alone() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.present) == 0 && !p.stranger && p.twin == nil
}

// ask asks who is there, and waits for the answers: they come not long after the question came back to this node.
func (p *Presence) ask(ctx context.Context) error {
	asked := time.Now()
	p.say("who")
	timer := time.NewTimer(echoAwaited)
	defer timer.Stop()
	select {
	case <-p.echo:
		timer.Reset(max(answersAwaited, 2*time.Since(asked)))
	case <-timer.C:
		return nil // whoever is there says so in time
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
	return p.roster.members()
}

// Heard takes a message that somebody broadcast. It does not block.
func (p *Presence) Heard(message []byte) {
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
		p.stranger = true
	}
	if s.Kind == "who" { // strangers too, so that they find out that their key is another
		p.owes = true
		p.signal()
		return
	}
	if !proved {
		return
	}
	if s.ID == p.self.ID {
		if !p.config.Observe && p.twin == nil && s.Kind == "here" {
			p.twin = fmt.Errorf("same node id: a node %q is there already", s.ID)
			p.config.Log.Error("another node has this one's id: give one of them another", "node", p.self.ID)
		}
		return
	}
	known := p.present[s.ID]
	switch {
	case known != nil && s.When <= known.when && s.Instance == known.member.Instance, known == nil && len(p.present) >= maxMembers:
		return
	case s.Kind == "bye":
		if known != nil && known.member.Instance == s.Instance {
			delete(p.present, s.ID)
			p.roster.drop(s.ID, Left)
		}
		return
	case known != nil && s.Instance < known.member.Instance:
		return // of a run before
	}
	m := Member{ID: s.ID, Addr: s.Addr, Zone: s.Zone, Labels: s.Labels, Guest: s.Guest, Instance: s.Instance}
	p.present[s.ID] = &presentNode{m, s.When, time.Now()}
	p.roster.set(s.ID, m)
}

// read checks a message of anybody's, and tells whether the sender proved to have the key that this node has.
func (p *Presence) read(message []byte) (s sign, proved, ok bool) {
	if len(message) < sha256.Size || len(message) > maxPresence {
		return s, false, false
	}
	proved = hmac.Equal(message[:sha256.Size], p.proof(message[sha256.Size:]))
	err := json.Unmarshal(message[sha256.Size:], &s)
	return s, proved, err == nil && badID(s.ID) == "" && (s.Addr == "" || checkURL(s.Addr) == nil) && (s.Kind == "here" || s.Kind == "bye" || s.Kind == "who")
}

func (p *Presence) proof(text []byte) []byte {
	if p.mac == nil {
		return make([]byte, sha256.Size)
	}
	sum := hmac.New(sha256.New, p.mac)
	sum.Write(text)
	return sum.Sum(nil)
}

// say tells all nodes something of this one. Start, then the loop and at last Stop call it, so that what is said is heard in
// the order of sign.When.
func (p *Presence) say(kind string) {
	if p.config.Observe && kind != "who" {
		return
	}
	p.lock.Lock()
	p.said = max(p.said+1, time.Now().UnixNano())
	s := sign{kind, p.self.ID, p.said, meta{p.self.Addr, p.self.Zone, p.self.Labels, p.self.Guest, p.self.Instance}}
	if kind == "here" {
		p.answered, p.owes = time.Now(), false
	}
	p.lock.Unlock()
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	if err := p.broadcast(append(p.proof(text), text...)); err != nil {
		p.config.Log.Debug("presence not told", "node", p.self.ID, "error", err)
	}
}

// Failed drops a member, see [Membership]; if it is there all the same it is asked to say so.
func (p *Presence) Failed(id string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.roster == nil || p.present[id] == nil {
		return
	}
	delete(p.present, id)
	p.roster.drop(id, Failed)
	p.asks = true
	p.signal()
}

// Interrupted tells that the broker is lost, or that it is back.
func (p *Presence) Interrupted(away bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.away = away
	for _, there := range p.present {
		there.heard = time.Now()
	}
	if !away {
		p.owes, p.answered = true, time.Time{}
		p.signal()
	}
}

func (p *Presence) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// loop says that this node is there, in intervals and when asked, and drops those who have been silent. Where nobody was
// heard it asks again: a broker of several servers may not have had the way to the others yet.
func (p *Presence) loop() {
	ticker := time.NewTicker(p.config.Interval)
	defer ticker.Stop()
	patience := askAgain
	again := time.NewTimer(patience)
	defer again.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-ticker.C:
			p.dropSilent()
			p.say("here")
		case <-again.C:
			if !p.alone() {
				continue
			}
			p.say("who")
			if patience *= 2; patience < p.config.Interval {
				again.Reset(patience)
			}
		case <-p.wake:
			p.lock.Lock()
			asks, pause := p.asks, answerAtMost-time.Since(p.answered)
			p.asks = false
			p.lock.Unlock()
			if asks {
				p.say("who")
			}
			if pause > 0 {
				select {
				case <-p.done:
					return
				case <-time.After(pause):
				}
			}
			p.lock.Lock()
			owes := p.owes
			p.lock.Unlock()
			if owes {
				p.say("here")
			}
		}
	}
}

func (p *Presence) dropSilent() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.away || p.roster == nil { // it may have stopped
		return
	}
	for id, there := range p.present {
		if time.Since(there.heard) > p.config.Limit {
			delete(p.present, id)
			p.roster.drop(id, Failed)
		}
	}
}

// Stop says goodbye; see [Membership].
func (p *Presence) Stop(context.Context) error {
	if p.end() {
		p.say("bye") // nothing more is said behind it, which would bring this node back
	}
	return nil
}

// end ends what Start began, and tells whether it did so.
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
	roster.stop()
	return true
}
