package actor

import (
	"fmt"
	"testing"
)

func TestMessagesFromOneProcessToAnotherKeepTheirOrder(t *testing.T) {
	for _, n := range []int{1, 2, 10, 1000, 20_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				next := 0
				to := spawn(t, s, hooks{any: func(_ *Process, m any) error {
					if m != next {
						t.Errorf("got %v, not %d", m, next)
					}
					next++
					return nil
				}})
				from := spawn(t, s, hooks{})
				in(t, s, from, func(p *Process) {
					for i := range n {
						Send(p, to, i)
					}
				})
				in(t, s, to, func(*Process) {}) // behind them
				if next != n {
					t.Errorf("%d of %d came", next, n)
				}
			})
		})
	}
}

func TestMessagesOfSeveralTypesKeepTheirOrder(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		to, from := spawn(t, s, hooks{any: got.note}), spawn(t, s, hooks{})
		var want []any
		in(t, s, from, func(p *Process) {
			for i := range 100 {
				Send(p, to, i)
				Send(p, to, i)
				Send(p, to, fmt.Sprint(i))
				want = append(want, i, i, fmt.Sprint(i))
			}
		})
		got.want(t, want...)
	})
}

func TestUrgentGoesBeforeSystemBeforeNormalBeforeLog(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: got.note})
		g := busyIn(t, s, pid)
		for i := range 2 {
			for _, priority := range []Priority{PriorityLog, PriorityNormal, PrioritySystem, PriorityUrgent} {
				if err := SendPriority(s, pid, priority, fmt.Sprintf("%s%d", priority, i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		close(g.open)
		got.want(t, "urgent0", "urgent1", "system0", "system1", "normal0", "normal1", "log0", "log1")
	})
}

func TestUrgentGoesBetweenMessagesThatWereHandedOverTogether(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		g := newGate()
		to := spawn(t, s, hooks{any: func(p *Process, m any) error {
			got.add(m)
			if m == 3 {
				return g.pass(p)
			}
			return nil
		}})
		in(t, s, spawn(t, s, hooks{}), func(p *Process) {
			for i := range 6 {
				Send(p, to, i)
			}
		})
		<-g.entered
		SendPriority(s, to, PriorityUrgent, "urgent")
		close(g.open)
		got.want(t, 0, 1, 2, 3, "urgent", 4, 5)
	})
}

func TestAMessageOfUnknownPriorityIsOfTheLog(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: got.note})
		g := busyIn(t, s, pid)
		SendPriority(s, pid, 200, "unknown")
		Send(s, pid, "normal")
		close(g.open)
		got.want(t, "normal", "unknown")
	})
}
