package membership_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/seal"
)

// The kinds of messages, their second byte.
const (
	presenceHere = "\x01"
	presenceBye  = "\x02"
	presenceWho  = "\x03"
)

// presence is a message of a node without a key.
func presence(kind, text string) []byte { return []byte("\x03" + kind + text) }

func isBye(message []byte) bool { return message[1]&0x7f == presenceBye[0] }

// broker gives each message to all members but those that are shut out.
type broker struct {
	lock    sync.Mutex
	inside  []*membership.Presence
	outside map[*membership.Presence]bool
	said    int
	log     strings.Builder
}

func (r *broker) enter(key string, config membership.PresenceConfig) *membership.Presence {
	config.Log = slog.New(slog.NewTextHandler(&r.log, nil))
	if key != "" {
		config.Keys = seal.NewKeys(strings.Split(key, ",")...)
	}
	var p *membership.Presence
	p = membership.NewPresence(func(message []byte) error {
		r.lock.Lock()
		defer r.lock.Unlock()
		r.said++
		for _, other := range r.inside {
			if !r.outside[p] && !r.outside[other] {
				other.Receive(bytes.Clone(message)) // p is among them, as over a broker
			}
		}
		return nil
	}, config)
	r.lock.Lock()
	defer r.lock.Unlock()
	r.inside = append(r.inside, p)
	return p
}

func (r *broker) shut(p *membership.Presence, out bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.outside == nil {
		r.outside = make(map[*membership.Presence]bool)
	}
	r.outside[p] = out
}

func startPresence(t *testing.T, p *membership.Presence, id string) *news {
	t.Helper()
	n := new(news)
	if err := p.Start(t.Context(), membership.Member{ID: id, Addr: "bus://b#" + id}, n.watch); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(context.Background()) })
	return n
}

func wantNews(t *testing.T, node string, n *news, want ...string) {
	t.Helper()
	if got := n.take(); !slices.Equal(got, want) {
		t.Errorf("%s was notified of %q, want %q", node, got, want)
	}
}

func TestNodesThatReceiveEachOthersMessagesAreMembers(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		a, b := r.enter("", membership.PresenceConfig{}), r.enter("", membership.PresenceConfig{})
		na := startPresence(t, a, "a")
		nb := startPresence(t, b, "b")
		wantNews(t, "a", na, "joined bus://b#b is b")
		wantNews(t, "b", nb, "joined bus://b#a is a")
		b.Stop(t.Context())
		wantNews(t, "a", na, "left bus://b#b is b")
	})
}

func TestASilentNodeFailsAfterTheLimitAndComesBack(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		a, b := r.enter("", membership.PresenceConfig{}), r.enter("", membership.PresenceConfig{})
		na := startPresence(t, a, "a")
		startPresence(t, b, "b")
		na.take()
		r.shut(b, true)
		time.Sleep(14 * time.Second)
		wantNews(t, "a", na)
		time.Sleep(8 * time.Second)
		wantNews(t, "a", na, "failed bus://b#b is b")
		r.shut(b, false)
		time.Sleep(6 * time.Second)
		wantNews(t, "a", na, "joined bus://b#b is b")
	})
}

func TestNoMemberFailsWhileTheBrokerIsLost(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		a, b := r.enter("", membership.PresenceConfig{}), r.enter("", membership.PresenceConfig{})
		na := startPresence(t, a, "a")
		startPresence(t, b, "b")
		na.take()
		a.Interrupted(true)
		r.shut(a, true)
		time.Sleep(time.Hour)
		wantNews(t, "a", na)
		r.shut(a, false)
		a.Interrupted(false)
		time.Sleep(time.Minute)
		wantNews(t, "a", na)
	})
}

func TestAMemberThatIsSaidToHaveFailedComesBackWhenItIsThere(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		a, b := r.enter("", membership.PresenceConfig{}), r.enter("", membership.PresenceConfig{})
		na := startPresence(t, a, "a")
		startPresence(t, b, "b")
		na.take()
		a.Failed("b")
		a.Failed("nobody")
		wantNews(t, "a", na, "failed bus://b#b is b")
		time.Sleep(time.Second)
		wantNews(t, "a", na, "joined bus://b#b is b")
	})
}

func TestASecondNodeOfAnIDIsRefused(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		a, b := r.enter("", membership.PresenceConfig{}), r.enter("", membership.PresenceConfig{})
		startPresence(t, a, "a")
		if err := b.Start(t.Context(), membership.Member{ID: "a", Addr: "bus://b#b"}, func(membership.Change) {}); err == nil {
			t.Error("it started")
		}
	})
}

func TestMessagesWithoutTheKeyOfTheClusterAreIgnored(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		a, b := r.enter("the key of the cluster", membership.PresenceConfig{}), r.enter("another key", membership.PresenceConfig{})
		c := r.enter("", membership.PresenceConfig{})
		na := startPresence(t, a, "a")
		for id, stranger := range map[string]*membership.Presence{"b": b, "c": c} {
			if err := stranger.Start(t.Context(), membership.Member{ID: id}, func(membership.Change) {}); err == nil || !strings.Contains(err.Error(), "wrong key") {
				t.Errorf("%s starts: %v", id, err)
			}
		}
		for _, message := range [][]byte{nil, make([]byte, 31), make([]byte, 40), make([]byte, 1<<20), presence(presenceHere, `{"id":"x"}`), presence("\x81", "\x30\x00"+strings.Repeat("x", 48)), {3}, {3, 0x81, 0xff, 0xff}} {
			a.Receive(message)
		}
		wantNews(t, "a", na)
	})
}

func TestNodesThatStartTogetherAreNotKeptFromItByAStranger(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		startPresence(t, r.enter("another key", membership.PresenceConfig{}), "stranger")
		a, b := r.enter("the key of the cluster", membership.PresenceConfig{}), r.enter("the key of the cluster", membership.PresenceConfig{})
		var starts sync.WaitGroup
		for id, p := range map[string]*membership.Presence{"a": a, "b": b} {
			starts.Go(func() {
				if err := p.Start(t.Context(), membership.Member{ID: id}, func(membership.Change) {}); err != nil {
					t.Errorf("%s does not start: %v", id, err)
				}
			})
			defer p.Stop(context.Background())
		}
		starts.Wait()
	})
}

func TestAnOldGoodbyeDoesNotCount(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		var bye []byte
		a := r.enter("", membership.PresenceConfig{})
		na := startPresence(t, a, "a")
		b := membership.NewPresence(func(message []byte) error {
			if isBye(message) {
				bye = bytes.Clone(message)
			}
			a.Receive(bytes.Clone(message))
			return nil
		}, membership.PresenceConfig{})
		if err := b.Start(t.Context(), membership.Member{ID: "b", Addr: "bus://b#b", Instance: 1}, func(membership.Change) {}); err != nil {
			t.Fatal(err)
		}
		b.Stop(t.Context())
		again := membership.NewPresence(func(message []byte) error { a.Receive(bytes.Clone(message)); return nil }, membership.PresenceConfig{})
		if err := again.Start(t.Context(), membership.Member{ID: "b", Addr: "bus://b#b", Instance: 2}, func(membership.Change) {}); err != nil {
			t.Fatal(err)
		}
		na.take()
		a.Receive(bye)
		wantNews(t, "a", na)
		again.Stop(t.Context())
	})
}

func TestANodeWhoseMessagesDoNotComeBackWarnsOfIt(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		const warning, over = "does not bring back", "brings back again"
		var r broker
		a := r.enter("", membership.PresenceConfig{})
		expect := func(when, want string, times int) {
			t.Helper()
			synctest.Wait()
			if strings.Count(r.log.String(), want) != times {
				t.Errorf("%s the log is\n%s", when, r.log.String())
			}
		}
		r.shut(a, true)
		startPresence(t, a, "a")
		expect("without rights at its start", warning, 1)
		time.Sleep(time.Hour)
		expect("an hour later", warning, 1)
		r.shut(a, false)
		time.Sleep(time.Minute)
		expect("with rights", over, 1)
		expect("with rights", warning, 1)
		r.shut(a, true)
		time.Sleep(time.Minute)
		expect("when it loses its rights", warning, 2)
	})
}

func TestAnObserverIsNotSeen(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		a, observer := r.enter("", membership.PresenceConfig{}), r.enter("", membership.PresenceConfig{Observe: true})
		na := startPresence(t, a, "a")
		ng := startPresence(t, observer, "observer")
		time.Sleep(time.Minute)
		wantNews(t, "a", na)
		wantNews(t, "the client-only node", ng, "joined bus://b#a is a")
	})
}

// Without that, an observer would stop waiting before the others announce themselves again.
func TestANodeWithoutAnAnswerAtItsStartSoonAsksAgain(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		for id, config := range map[string]membership.PresenceConfig{"b": {}, "observer": {Observe: true}} {
			var r broker
			startPresence(t, r.enter("", membership.PresenceConfig{Interval: time.Hour}), "a")
			late := r.enter("", config)
			r.shut(late, true)
			n := startPresence(t, late, id)
			r.shut(late, false)
			time.Sleep(time.Second)
			if got := n.take(); !slices.Contains(got, "joined bus://b#a is a") {
				t.Errorf("%s was notified of %q", id, got)
			}
		}
	})
}

// A hundred nodes that start at once do not each answer each.
func TestAnswersAreShared(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		var all []*membership.Presence
		for range 50 {
			all = append(all, r.enter("", membership.PresenceConfig{}))
		}
		var wg sync.WaitGroup
		for i, p := range all {
			wg.Go(func() { startPresence(t, p, string(rune('A'+i))) })
		}
		wg.Wait()
		time.Sleep(time.Second)
		for _, p := range all {
			if n := len(p.Members()); n != 49 {
				t.Errorf("it knows %d others", n)
			}
		}
		r.lock.Lock()
		defer r.lock.Unlock()
		if r.said > 5*50 {
			t.Errorf("%d messages were sent", r.said)
		}
	})
}

// A message behind the goodbye would make the node a member again, up to the limit of silence.
func TestNothingIsSentAfterTheGoodbye(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var b *membership.Presence
		var said []string
		b = membership.NewPresence(func(message []byte) error {
			said = append(said, string(message))
			if isBye(message) { // the broker is slow, and a node asks meanwhile
				b.Receive(presence(presenceWho, `{"id":"c"}`))
				time.Sleep(time.Second)
			}
			return nil
		}, membership.PresenceConfig{})
		startPresence(t, b, "b")
		b.Stop(t.Context())
		time.Sleep(time.Second)
		if last := said[len(said)-1]; !isBye([]byte(last)) {
			t.Errorf("the last of %d messages is %s", len(said), last)
		}
	})
}

// Otherwise the others might hear them in another order, and take the first for an old one.
func TestMessagesAreBroadcastOneAfterTheOther(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var b *membership.Presence
		var telling atomic.Int32
		b = membership.NewPresence(func(message []byte) error {
			if telling.Add(1) > 1 {
				t.Error("two at once")
			}
			if message[1] == presenceHere[0] {
				go b.Failed("a") // which asks which nodes are there
			}
			time.Sleep(time.Second)
			telling.Add(-1)
			return nil
		}, membership.PresenceConfig{})
		startPresence(t, b, "b")
		b.Receive(presence(presenceHere, `{"id":"a"}`))
		time.Sleep(time.Minute)
	})
}

// A node that has stopped no longer has a list to take the silent from, though the time for it may have come meanwhile.
func TestStoppingWhileAMemberIsSilentForTooLong(t *testing.T) {
	for range 20 { // the loop that ends may take any of the two that wait, the tick and the end
		bubbletest.Run(t, func(t *testing.T) {
			var slow atomic.Bool
			b := membership.NewPresence(func([]byte) error {
				if slow.Load() {
					time.Sleep(10 * time.Second)
				}
				return nil
			}, membership.PresenceConfig{Interval: 5 * time.Second})
			startPresence(t, b, "b")
			b.Receive(presence(presenceHere, `{"id":"a"}`))
			time.Sleep(16 * time.Second)
			slow.Store(true)
			b.Receive(presence(presenceWho, `{"id":"c"}`)) // the answer lasts beyond the next tick
			time.Sleep(5 * time.Second)
			b.Stop(t.Context())
		})
	}
}

// recorded has a node with a key start and stop at a broker, and returns what it said.
func recorded(t *testing.T, others *broker, key, cluster string) (said [][]byte) {
	t.Helper()
	p := membership.NewPresence(func(message []byte) error {
		said = append(said, bytes.Clone(message))
		for _, other := range others.inside {
			other.Receive(bytes.Clone(message))
		}
		return nil
	}, membership.PresenceConfig{Keys: seal.NewKeys(key), Cluster: cluster})
	if err := p.Start(t.Context(), membership.Member{ID: "b", Addr: "bus://b#secret-inbox"}, func(membership.Change) {}); err != nil {
		t.Fatal(err)
	}
	bubbletest.Wait() // else it may go before the others have taken note of it
	p.Stop(t.Context())
	return said
}

const clusterKey = "the key of the cluster"

func TestWithAKeyNobodyElseReadsWhatNodesSayOfThemselves(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		said := recorded(t, &broker{}, clusterKey, "")
		if len(said) < 3 {
			t.Fatalf("%d messages", len(said))
		}
		for _, message := range said {
			if bytes.Contains(message, []byte("secret")) || bytes.Contains(message, []byte(`"id"`)) {
				t.Errorf("%q", message)
			}
		}
	})
}

func TestAMessageThatComesAgainBringsNoNodeBack(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		a := r.enter(clusterKey, membership.PresenceConfig{})
		na := startPresence(t, a, "a")
		said := recorded(t, &r, clusterKey, "")
		bubbletest.Wait()
		wantNews(t, "a", na, "joined bus://b#secret-inbox is b", "left bus://b#secret-inbox is b")
		for _, message := range said {
			a.Receive(message)
		}
		bubbletest.Wait()
		wantNews(t, "a", na)
	})
}

func TestAMessageOfAnotherClusterWithTheSameKeyIsNotTaken(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		refusals := seal.NewRefusals(slog.New(slog.DiscardHandler))
		na := startPresence(t, r.enter(clusterKey, membership.PresenceConfig{Cluster: "shop", Refusals: refusals}), "a")
		said := recorded(t, &broker{}, clusterKey, "bank")
		for _, message := range said {
			r.inside[0].Receive(message)
		}
		bubbletest.Wait()
		wantNews(t, "a", na)
		if refusals.Count() != uint64(len(said)) {
			t.Errorf("%d of %d messages are counted", refusals.Count(), len(said))
		}
	})
}

func TestAChangedMessageIsNotTaken(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		a := r.enter(clusterKey, membership.PresenceConfig{})
		na := startPresence(t, a, "a")
		here := recorded(t, &broker{}, clusterKey, "")[1]
		for at := range here {
			changed := bytes.Clone(here)
			changed[at] ^= 1
			a.Receive(changed)
		}
		bubbletest.Wait()
		wantNews(t, "a", na)
	})
}

func TestNodesWithOldAndNewKeysSeeEachOther(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r broker
		const next = "the next key of the cluster"
		na := startPresence(t, r.enter(clusterKey, membership.PresenceConfig{}), "a")
		nb := startPresence(t, r.enter(next+","+clusterKey, membership.PresenceConfig{}), "b")
		nc := startPresence(t, r.enter(next, membership.PresenceConfig{}), "c")
		bubbletest.Wait()
		wantNews(t, "a", na, "joined bus://b#b is b")
		wantNews(t, "b", nb, "joined bus://b#a is a", "joined bus://b#c is c")
		wantNews(t, "c", nc, "joined bus://b#b is b")
	})
}

func TestANodeOfVersion2IsNamedAndNotTaken(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var b *membership.Presence
		b = membership.NewPresence(func([]byte) error {
			b.Receive(append(make([]byte, 32), `{"kind":"here","id":"old","when":1}`...))
			return nil
		}, membership.PresenceConfig{Log: slog.New(slog.DiscardHandler)})
		err := b.Start(t.Context(), membership.Member{ID: "b"}, func(membership.Change) {})
		if err == nil || !strings.Contains(err.Error(), "version 2") || !strings.Contains(err.Error(), "version 3") {
			t.Errorf("it starts: %v", err)
		}
	})
}

// FuzzPresence holds that nobody without the key gets a node to know another.
func FuzzPresence(f *testing.F) {
	f.Add(presence(presenceHere, `{"id":"x","a":"tcp://h:1","when":1}`))
	f.Add(presence("\x81", "\x30\x00"+strings.Repeat("x", 48)))
	f.Add(append(make([]byte, 32), `{"kind":"here","id":"x","when":1}`...))
	f.Fuzz(func(t *testing.T, message []byte) {
		bubbletest.Run(t, func(t *testing.T) {
			p := membership.NewPresence(func([]byte) error { return nil }, membership.PresenceConfig{Keys: seal.NewKeys("nobody who fuzzes has this key.."), Log: slog.New(slog.DiscardHandler)})
			n := startPresence(t, p, "a")
			p.Receive(message)
			bubbletest.Wait()
			wantNews(t, "a", n)
		})
	})
}
