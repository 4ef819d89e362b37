package membership_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/membership"
)

// news collects what a watch function receives.
type news struct {
	lock sync.Mutex
	list []string
}

func (n *news) watch(c membership.Change) {
	n.lock.Lock()
	defer n.lock.Unlock()
	text := c.Kind.String() + " " + c.Member.Addr
	if c.Member.ID != "" {
		text += " is " + c.Member.ID
	}
	n.list = append(n.list, text)
}

// take waits until all is reported, and returns what came since the last take.
func (n *news) take() []string {
	bubbletest.Wait()
	n.lock.Lock()
	defer n.lock.Unlock()
	list := n.list
	n.list = nil
	return list
}

func (n *news) want(t *testing.T, step string, want ...string) {
	t.Helper()
	if got := n.take(); !slices.Equal(got, want) {
		t.Errorf("%s: received %q, want %q", step, got, want)
	}
}

func startStatic(t *testing.T, self string, peers ...string) (*membership.Static, *news) {
	t.Helper()
	s, n := membership.NewStatic(peers), &news{}
	if err := s.Start(t.Context(), membership.Member{ID: "me", Addr: self}, n.watch); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(t.Context()) })
	return s, n
}

func TestStaticNamesItsPeersAsTheyAreIdentified(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, n := startStatic(t, "mem://me", "mem://1", "mem://2")
		n.want(t, "start", "joined mem://1", "joined mem://2")
		s.Identified("mem://1", membership.Member{ID: "a", Addr: "mem://elsewhere", Instance: 7})
		n.want(t, "identified", "updated mem://1 is a")
		s.Identified("mem://unlisted", membership.Member{ID: "b"})
		s.Identified("mem://2", membership.Member{})
		n.want(t, "unlisted or unnamed")
		members := s.Members()
		if len(members) != 2 || members[0].Addr != "mem://2" || members[1].ID != "a" || members[1].Instance != 7 {
			t.Errorf("members are %+v", members)
		}
	})
}

func TestStaticKeepsTheAddressOfANodeThatFailed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, n := startStatic(t, "mem://me", "mem://1")
		s.Identified("mem://1", membership.Member{ID: "a"})
		n.take()
		s.Failed("nobody")
		n.want(t, "unknown id")
		s.Failed("a")
		n.want(t, "failed", "failed mem://1 is a", "joined mem://1")
		s.Identified("mem://1", membership.Member{ID: "a"})
		n.want(t, "back", "updated mem://1 is a")
		s.Identified("mem://1", membership.Member{ID: "b"})
		n.want(t, "replaced", "failed mem://1 is a", "joined mem://1 is b")
	})
}

func TestStaticLeavesOutItself(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, n := startStatic(t, "mem://me", "mem://me", "mem://me-too", "mem://1", "mem://1")
		n.want(t, "start", "joined mem://me-too", "joined mem://1")
		s.Identified("mem://me-too", membership.Member{ID: "me"})
		n.want(t, "recognised", "left mem://me-too")
		s.Failed("me")
		n.want(t, "a hint about itself")
	})
}

func TestStaticShowsANodeWithTwoAddressesOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, n := startStatic(t, "", "mem://1", "mem://2")
		s.Identified("mem://1", membership.Member{ID: "a"})
		n.take()
		s.Identified("mem://2", membership.Member{ID: "a"})
		n.want(t, "the second address", "left mem://2")
		s.Failed("a")
		n.want(t, "failed", "failed mem://1 is a", "joined mem://1", "joined mem://2")
	})
}

func TestStaticTellsNothingAfterStop(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, n := startStatic(t, "", "mem://1")
		n.take()
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Identified("mem://1", membership.Member{ID: "a"})
		n.want(t, "stopped")
		if s.Members() != nil {
			t.Error("a stopped membership has members")
		}
	})
}

func TestStaticRefusesWhatIsNoURL(t *testing.T) {
	for _, peer := range []string{"", "localhost:7700", "10.0.0.1", "tcp:", "mem://a b\x7f"} {
		err := membership.NewStatic([]string{peer}).Start(t.Context(), membership.Member{ID: "me"}, func(membership.Change) {})
		if err == nil || !strings.Contains(err.Error(), "not a URL") {
			t.Errorf("%q: got %v", peer, err)
		}
	}
}

func TestGossipThatIsNotLinkedIsAnErrorThatNamesTheImport(t *testing.T) {
	_, err := membership.NewGossip(nil, nil, membership.GossipConfig{})
	if err == nil || !strings.Contains(err.Error(), `add import _ "github.com/sabir-go/sabir/transport/tcp"`) {
		t.Errorf("got %v", err)
	}
}

func TestAMembershipWantsAWatchFunctionAndAnID(t *testing.T) {
	m := membership.NewStatic(nil)
	if err := m.Start(t.Context(), membership.Member{ID: "me"}, nil); err == nil {
		t.Error("started without a watch function")
	}
	if err := m.Start(t.Context(), membership.Member{}, func(membership.Change) {}); err == nil {
		t.Error("started without an id")
	}
}
