package membership

import (
	"slices"
	"testing"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestTheRosterTellsOnlyTheDifferenceToASlowWatcher(t *testing.T) {
	tests := map[string]struct {
		while func(r *Roster) // the watcher is busy, having received that a joined
		want  []string
	}{
		"nothing":                   {func(r *Roster) {}, nil},
		"came and went":             {func(r *Roster) { r.Set("b", Member{ID: "b"}); r.Drop("b", Failed) }, nil},
		"went and came back":        {func(r *Roster) { r.Drop("a", Failed); r.Set("a", Member{ID: "a"}) }, nil},
		"went, came back changed":   {func(r *Roster) { r.Drop("a", Failed); r.Set("a", Member{ID: "a", Addr: "x"}) }, []string{"updated a"}},
		"two updates are one":       {func(r *Roster) { r.Set("a", Member{ID: "a", Addr: "x"}); r.Set("a", Member{ID: "a", Addr: "y"}) }, []string{"updated a"}},
		"the same again":            {func(r *Roster) { r.Set("a", Member{ID: "a"}) }, nil},
		"the last reason counts":    {func(r *Roster) { r.Drop("a", Failed); r.Set("a", Member{ID: "a"}); r.Drop("a", Left) }, []string{"left a"}},
		"in order of the changes":   {func(r *Roster) { r.Set("c", Member{ID: "c"}); r.Set("b", Member{ID: "b"}) }, []string{"joined c", "joined b"}},
		"gone twice is gone once":   {func(r *Roster) { r.Drop("a", Failed); r.Drop("a", Left) }, []string{"failed a"}},
		"unknown ones are not left": {func(r *Roster) { r.Drop("z", Left) }, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				var received []string
				busy := make(chan struct{})
				r := NewRoster(func(c Change) {
					<-busy
					received = append(received, c.Kind.String()+" "+c.Member.ID)
				})
				r.Set("a", Member{ID: "a"})
				bubbletest.Wait()
				test.while(r)
				close(busy)
				bubbletest.Wait()
				r.Stop()
				if want := append([]string{"joined a"}, test.want...); !slices.Equal(received, want) {
					t.Errorf("received %q, want %q", received, want)
				}
			})
		})
	}
}

func TestTheRosterStopsAfterTheCallUnderWay(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		busy, stopped := make(chan struct{}), make(chan struct{})
		calls := 0
		r := NewRoster(func(Change) {
			calls++
			<-busy
		})
		r.Set("a", Member{ID: "a"})
		r.Set("b", Member{ID: "b"})
		bubbletest.Wait()
		go func() { r.Stop(); close(stopped) }()
		bubbletest.Wait()
		select {
		case <-stopped:
			t.Error("stop did not wait")
		default:
		}
		close(busy)
		<-stopped
		if calls != 1 {
			t.Errorf("%d calls, want 1", calls)
		}
	})
}
