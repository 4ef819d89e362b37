package actor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/actor"
)

func (w taken) joins(group string) {
	w.t.Helper()
	w.must(func(p *actor.Process) error { return p.Join(group) })
}

func (w taken) leaves(group string) {
	w.t.Helper()
	w.must(func(p *actor.Process) error { p.Leave(group); return nil })
}

func (w taken) monitorsGroup(group string) (members []actor.PID) {
	w.t.Helper()
	w.must(func(p *actor.Process) (err error) {
		members, err = p.MonitorGroup(group)
		return err
	})
	return members
}

func sorted(pids []actor.PID) []actor.PID {
	slices.SortFunc(pids, actor.PID.Compare)
	return pids
}

func wantMembers(t testing.TB, s *actor.System, group string, want ...actor.PID) {
	t.Helper()
	if got := sorted(s.Members(group)); !slices.Equal(got, sorted(want)) {
		t.Errorf("the members are %v, not %v", got, want)
	}
}

func TestAMonitorOfAGroupGetsItsMembers(t *testing.T) {
	onOneAndTwoNodes(t, func(t *testing.T, at, here *actor.System, _ string) {
		w, first, second := sit(t, here), sit(t, at), sit(t, at)
		if members := w.monitorsGroup("workers"); len(members) != 0 {
			t.Errorf("members of a group that is not there: %v", members)
		}
		first.joins("workers")
		first.joins("workers") // which is once
		w.wants(actor.GroupChange{"workers", first.pid, true})
		second.joins("workers")
		w.wants(actor.GroupChange{"workers", second.pid, true})
		wantMembers(t, here, "workers", first.pid, second.pid)
		wantMembers(t, at, "workers", first.pid, second.pid)
		first.leaves("workers")
		w.wants(actor.GroupChange{"workers", first.pid, false})
		at.Kill(second.pid)
		w.wants(actor.GroupChange{"workers", second.pid, false})
		wantMembers(t, here, "workers")
		first.joins("workers")
		w.wants(actor.GroupChange{"workers", first.pid, true})
		if members := sit(t, here).monitorsGroup("workers"); !slices.Equal(members, []actor.PID{first.pid}) {
			t.Errorf("a newcomer is notified of %v", members)
		}
		w.must(func(p *actor.Process) error { p.DemonitorGroup("workers"); return nil })
		first.leaves("workers")
		w.wantsNothing()
	})
}

func TestLocalMembersComeFirst(t *testing.T) {
	all := joinMembers(t, "tcp://127.0.0.1:0", "a", "b")
	w := sit(t, all[0].System)
	w.monitorsGroup("g")
	for i := range 6 {
		m := sit(t, all[i%2].System)
		m.joins("g")
		w.wants(actor.GroupChange{"g", m.pid, true})
	}
	for i, pid := range all[0].Members("g") {
		if want := []string{"a", "b"}[i/3]; pid.Node() != want {
			t.Errorf("member %d is %s, not of %s", i, pid, want)
		}
	}
}

func TestMembersThatWereThereBeforeANodeJoinedAreKnownToIt(t *testing.T) {
	all := joinMembers(t, "tcp://127.0.0.1:0", "a")
	old := sit(t, all[0].System)
	for i := range 999 { // more than go together
		old.joins(fmt.Sprint("other-", i))
	}
	old.joins("g")
	b := startMember(t, "b", all[0].node.Info().Addr)
	w := sit(t, b.System)
	if members := w.monitorsGroup("g"); len(members) == 0 {
		w.wants(actor.GroupChange{"g", old.pid, true})
	}
	wantMembers(t, b.System, "g", old.pid)
}

func TestTheLossOfANodeTakesItsMembersOut(t *testing.T) {
	all := joinMembers(t, "tcp://127.0.0.1:0", "a", "b")
	w, here, there := sit(t, all[0].System), sit(t, all[0].System), sit(t, all[1].System)
	w.monitorsGroup("g")
	here.joins("g")
	w.wants(actor.GroupChange{"g", here.pid, true})
	there.joins("g")
	w.wants(actor.GroupChange{"g", there.pid, true})
	all[1].stop()
	w.wants(actor.GroupChange{"g", there.pid, false})
	wantMembers(t, all[0].System, "g", here.pid)
}

func TestSendGroupReachesAllMembersOnceAndInOrder(t *testing.T) {
	onOneAndTwoNodes(t, func(t *testing.T, at, here *actor.System, _ string) {
		w := sit(t, here)
		w.monitorsGroup("g")
		var members []taken
		for i := range 10 {
			m := sit(t, []*actor.System{at, here}[i%2])
			m.joins("g")
			w.wants(actor.GroupChange{"g", m.pid, true})
			members = append(members, m)
		}
		w.must(func(p *actor.Process) error {
			for n := range 200 {
				if err := actor.SendGroup(p, "g", price{n}); err != nil {
					return err
				}
			}
			return nil
		})
		for _, m := range members {
			m.wantsPrices(0, 199)
			m.wantsNothing()
		}
	})
}

func TestASystemSendsToAGroupThatMayBeEmpty(t *testing.T) {
	s := newSystem(t)
	if err := actor.SendGroup(s, "nobody", price{1}); err != nil {
		t.Error(err)
	}
	w := sit(t, s)
	w.joins("g")
	if err := actor.SendGroup(s, "g", price{1}); err != nil {
		t.Error(err)
	}
	w.wants(price{1})
}

func TestWhatGroupsRefuse(t *testing.T) {
	w := sit(t, newSystem(t))
	for name, fn := range map[string]func(p *actor.Process) error{
		"a group without a name":      func(p *actor.Process) error { return p.Join("") },
		"a long name":                 func(p *actor.Process) error { return p.Join(strings.Repeat("x", 256)) },
		"monitoring one without name": func(p *actor.Process) error { _, err := p.MonitorGroup(""); return err },
		"more than 1000 groups": func(p *actor.Process) error {
			for i := range 1001 {
				if err := p.Join(fmt.Sprint(i)); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			if w.do(fn) == nil {
				t.Error("no error")
			}
		})
	}
}
