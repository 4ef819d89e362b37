package membership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/seal"
)

// PresenceConfig is the configuration of [NewPresence].
type PresenceConfig struct {
	// Keys are the cluster keys. With one, messages are sealed, and those of programs without a common one are ignored.
	Keys seal.Keys
	// Cluster is the cluster's name: a message of another cluster with the same key is not taken.
	Cluster string
	// Refusals counts the messages that nobody with the key made.
	Refusals *seal.Refusals
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
	echoTimeout       = 5 * time.Second
	firstRetry        = 200 * time.Millisecond // after a question that no node answered; the pause grows up to the interval
	minAnswerInterval = 50 * time.Millisecond  // between two answers, however many nodes ask
	maxPresence       = 16 << 10               // bytes of a message
	unheardAfter      = 3                      // announcements that have not come back
)

// Presence is a membership by messages that all nodes get, as over a broker. Each node announces itself when it starts, in
// intervals and when another asks, and sends a goodbye when it stops.
//
// A node that is killed is Failed after the limit, or as soon as its links are lost and the owner calls [Presence.Failed].
type Presence struct {
	broadcast func(message []byte) error
	config    PresenceConfig

	lock         sync.Mutex // guards what follows
	self         Member
	roster       *Roster // nil before Start and after Stop
	present      map[string]*presentNode
	disconnected bool // the broker is lost
	duplicate    error
	gone         map[string]departed // the members that are there no more, so that an old message does not bring one back
	keyMismatch  bool                // a message came of a node whose key is another
	oldVersion   bool                // a message came of a node of protocol version 2
	accompanied  bool                // a message came of another node with this one's key, so neither of the two is this one's mistake
	missed       int                 // announcements and questions since one of this node's own messages came back
	lastSent     int64               // sign.When of the last one
	lastAnswer   time.Time           // when this node last announced itself
	answerDue    bool                // another node has asked since
	askDue       bool                // this node has to ask the others

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
// that arrive to [Presence.Receive]. broadcast may lose messages and is called by one goroutine at a time.
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
	p := &Presence{broadcast: broadcast, config: config, present: make(map[string]*presentNode), gone: make(map[string]departed), echo: make(chan struct{}, 1), wake: make(chan struct{}, 1), done: make(chan struct{})}
	return p
}

// The message of a node is: version uint8, kind uint8, and the JSON of a presenceMessage, which is sealed where the node has a
// cluster key; bit 7 of the kind is set then. Version and kind are part of what is sealed.
const (
	presenceVersion = 3
	presenceSealed  = 0x80
	presencePurpose = "sabir presence 3"
)

// presenceKind distinguishes the messages in which a node announces itself.
type presenceKind uint8

const (
	presenceHere presenceKind = 1
	presenceBye  presenceKind = 2
	presenceWho  presenceKind = 3 // all others are asked to say that they are here
)

// presenceMessage is sent as JSON.
type presenceMessage struct {
	ID   string `json:"id"`
	When int64  `json:"when"` // nanoseconds of the sender's clock, rising, so that an old message is not taken for a new one
	identity.Meta
}

// departed is a member that is there no more.
type departed struct {
	instance uint64
	lastSent int64
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
	if p.missed > 0 {
		p.warnUnheard()
	}
	err = p.duplicate
	switch {
	case err != nil || p.accompanied:
	case p.oldVersion:
		err = fmt.Errorf("no common version: the nodes of this cluster speak version 2 of the protocol, this one version %d: update them first, or stop them", presenceVersion)
	case p.keyMismatch:
		err = errors.New("wrong key: the nodes of this cluster have another cluster key than this one, or one of them has none")
	}
	p.lock.Unlock()
	if err != nil {
		p.end()
		return err
	}
	p.send(presenceHere)
	p.running.Go(p.loop)
	return nil
}

func (p *Presence) alone() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.present) == 0 && p.duplicate == nil
}

// ask asks the other nodes to announce themselves, and waits for them: their answers come not long after the question came
// back to this node.
func (p *Presence) ask(ctx context.Context) error {
	asked := time.Now()
	p.lock.Lock()
	p.missed++
	p.lock.Unlock()
	p.send(presenceWho)
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
	if len(message) < 2 || len(message) > maxPresence {
		return
	}
	if message[0] != presenceVersion {
		p.refuseOld(message)
		return
	}
	kind := presenceKind(message[1] &^ presenceSealed)
	s, proved, ok := p.read(message)
	if !ok {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.roster == nil {
		return
	}
	if !proved {
		p.keyMismatch = true
		if kind == presenceWho { // so that nodes with another key find out
			p.answerDue = true
			p.signal()
		}
		return
	}
	if s.Instance == p.self.Instance && s.ID == p.self.ID {
		if p.missed > unheardAfter {
			p.config.Log.Info("the broker brings back again what this node says to all nodes", "node", p.self.ID)
		}
		p.missed = 0
		select {
		case p.echo <- struct{}{}:
		default:
		}
		return
	}
	p.accompanied = true
	if kind == presenceWho {
		p.answerDue = true
		p.signal()
		return
	}
	if s.ID == p.self.ID {
		if !p.config.Observe && p.duplicate == nil && kind == presenceHere {
			p.duplicate = fmt.Errorf("same node id: a node %q is there already", s.ID)
			p.config.Log.Error("another node has this one's id: give one of them another", "node", p.self.ID)
		}
		return
	}
	p.member(kind, s)
}

// member takes a message of a member. The caller holds the lock.
func (p *Presence) member(kind presenceKind, s presenceMessage) {
	known, before := p.present[s.ID], p.gone[s.ID]
	switch {
	case known != nil && s.When <= known.lastSent && s.Instance == known.member.Instance, known == nil && len(p.present) >= identity.MaxMembers:
		return
	case s.When <= before.lastSent && s.Instance == before.instance:
		return // it came again after the member had gone
	case kind == presenceBye:
		if known != nil && known.member.Instance == s.Instance {
			known.lastSent = s.When
			p.drop(known, Left)
		}
		return
	case known != nil && s.Instance < known.member.Instance, s.Instance < before.instance:
		return // of a run before
	}
	m := Member{ID: s.ID, Addr: s.Addr, ClientOnly: s.ClientOnly, Instance: s.Instance}
	delete(p.gone, s.ID)
	p.present[s.ID] = &presentNode{m, s.When, time.Now()}
	p.roster.Set(s.ID, m)
}

// drop takes a member out, and remembers its last message. The caller holds the lock.
func (p *Presence) drop(there *presentNode, why ChangeKind) {
	id := there.member.ID
	for oldest := range p.gone {
		if len(p.gone) < identity.MaxMembers {
			break
		}
		delete(p.gone, oldest)
	}
	p.gone[id] = departed{there.member.Instance, there.lastSent}
	delete(p.present, id)
	p.roster.Drop(id, why)
}

// refuseOld logs a node of protocol version 2, whose messages are 32 bytes and JSON, and makes the start of this one fail by it.
func (p *Presence) refuseOld(message []byte) {
	var old struct{ ID string }
	if len(message) < 32 || json.Unmarshal(message[32:], &old) != nil || identity.BadID(old.ID) != "" {
		return
	}
	p.lock.Lock()
	first := !p.oldVersion
	p.oldVersion = true
	p.lock.Unlock()
	if first {
		p.config.Log.Error("a node speaks version 2 of the protocol and this one version 3: update it", "node", old.ID)
	}
}

// read decodes and checks a message. proved is false where its sender has no key in common with this node.
func (p *Presence) read(message []byte) (s presenceMessage, proved, ok bool) {
	head, text := message[:2], message[2:]
	kind := presenceKind(head[1] &^ presenceSealed)
	if kind < presenceHere || kind > presenceWho {
		return s, false, false
	}
	if sealed := head[1]&presenceSealed != 0; sealed == p.config.Keys.None() {
		return s, false, true
	}
	if !p.config.Keys.None() {
		if text, proved = p.config.Keys.Receive(presencePurpose, text, p.bound(head)); !proved {
			p.config.Refusals.Note("presence", "")
			return s, false, true
		}
	}
	err := json.Unmarshal(text, &s)
	return s, true, err == nil && identity.BadID(s.ID) == "" && (s.Addr == "" || identity.CheckURL(s.Addr) == nil)
}

// bound returns the associated data of a sealed message.
func (p *Presence) bound(head []byte) []byte { return append(slices.Clone(head), p.config.Cluster...) }

// send broadcasts a message about this node. Start, then loop and at last Stop call it and no other function, so that messages go
// in the order of presenceMessage.When.
func (p *Presence) send(kind presenceKind) {
	if p.config.Observe && kind != presenceWho {
		return
	}
	p.lock.Lock()
	p.lastSent = max(p.lastSent+1, time.Now().UnixNano())
	s := presenceMessage{p.self.ID, p.lastSent, identity.Meta{Addr: p.self.Addr, ClientOnly: p.self.ClientOnly, Instance: p.self.Instance}}
	if kind == presenceHere {
		p.lastAnswer, p.answerDue = time.Now(), false
	}
	p.lock.Unlock()
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	message := []byte{presenceVersion, byte(kind)}
	if p.config.Keys.None() {
		message = append(message, text...)
	} else {
		message[1] |= presenceSealed
		message = p.config.Keys.Broadcast(message, presencePurpose, text, p.bound(message))
	}
	if err := p.broadcast(message); err != nil {
		p.config.Log.Debug("presence not announced", "node", p.self.ID, "error", err)
	}
}

// countUnheard counts announcements until one comes back.
func (p *Presence) countUnheard() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.disconnected || p.config.Observe {
		return
	}
	if p.missed++; p.missed == unheardAfter+1 {
		p.warnUnheard()
	}
}

// warnUnheard logs that none of this node's own messages comes back, which brokers do not report to everybody who lacks a right. The caller holds the lock.
func (p *Presence) warnUnheard() {
	p.missed = unheardAfter + 1
	p.config.Log.Warn("the broker does not bring back what this node says to all nodes of its cluster, so they do not find each other: look at its rights to publish and to subscribe there",
		"node", p.self.ID, "cluster", p.config.Cluster)
}

// Failed drops a member, see [Membership], and asks it to announce itself if it is still there.
func (p *Presence) Failed(id string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.roster == nil || p.present[id] == nil {
		return
	}
	p.drop(p.present[id], Failed)
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
			p.countUnheard()
			p.send(presenceHere)
		case <-again.C:
			if !p.alone() {
				continue
			}
			p.send(presenceWho)
			if pause *= 2; pause < p.config.Interval {
				again.Reset(pause)
			}
		case <-p.wake:
			p.lock.Lock()
			asks, pause := p.askDue, minAnswerInterval-time.Since(p.lastAnswer)
			p.askDue = false
			p.lock.Unlock()
			if asks {
				p.send(presenceWho)
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
				p.send(presenceHere)
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
	for _, there := range p.present {
		if time.Since(there.lastSeen) > p.config.Limit {
			p.drop(there, Failed)
		}
	}
}

// Stop sends a goodbye; see [Membership].
func (p *Presence) Stop(context.Context) error {
	if p.end() {
		p.send(presenceBye) // the last message: another would bring this node back
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
