package supervise_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
)

var pids = regexp.MustCompile(`[a-z]+/[0-9a-f]+/[0-9]+\.[0-9]+`)

func (w *world) shop() actor.PID {
	w.Helper()
	desk := w.worker("desk")
	desk.Restart = "transient"
	pid := w.start(supervise.Spec(supervise.Config{Name: "shop", Intensity: 9},
		w.worker("db"),
		supervise.Child{ID: "orders", Start: supervise.Spec(supervise.Config{Strategy: "rest-for-one"}, desk, w.worker("till"))},
		supervise.Child{ID: "carts", Start: supervise.Dynamic(working, supervise.Config{Name: "carts"}, supervise.Child{Restart: "temporary"})},
	))
	w.expect("start db", "start desk", "start till")
	w.one(w.child(pid, "carts").PID, w.job("cart"))
	w.expect("start cart")
	w.crash(pid, "db", errCrash)
	w.expect("end db", "start db")
	w.crash(w.child(pid, "orders").PID, "desk", actor.ErrNormal)
	w.expect("end desk")
	return pid
}

func TestTreeIsDrawn(t *testing.T) {
	w := newWorld(t)
	tree, err := supervise.At(w.system, w.shop()).Tree(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := `shop · supervisor, one-for-one · PID
├─ db · worker · permanent · PID · 1 restart
├─ orders · supervisor, rest-for-one · permanent · PID
│  ├─ desk · worker · transient · ended
│  └─ till · worker · permanent · PID
└─ carts · dynamic supervisor · permanent · PID
   └─ worker · temporary · PID
`
	if got := pids.ReplaceAllString(tree.String(), "PID"); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

func TestTreeSurvivesJSON(t *testing.T) {
	w := newWorld(t)
	tree, err := supervise.At(w.system, w.shop()).Tree(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	var read supervise.Info
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(tree, read) {
		t.Errorf("%s\n%s", tree, read)
	}
	if !strings.Contains(string(text), `"restart":"transient"`) || !strings.Contains(string(text), `"state":"ended"`) {
		t.Error(string(text))
	}
}

func TestTreeShowsASupervisorThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	hold := make(chan struct{})
	j := w.job("b")
	pid := w.start(supervise.Spec(supervise.Config{Name: "top"}, supervise.Child{ID: "inner", Start: supervise.Spec(supervise.Config{}, w.worker("a"))}))
	w.expect("start a")
	j.init = func(*actor.Process) error { w.journal <- "wait"; <-hold; return nil }
	inner := w.child(pid, "inner").PID
	go supervise.At(w.system, inner).StartChild(t.Context(), supervise.Child{ID: "b", Start: working.Spec(j)})
	w.expect("wait")
	shown := make(chan supervise.Info)
	go func() {
		tree, err := supervise.At(w.system, pid).Tree(t.Context())
		if err != nil {
			t.Error(err)
		}
		shown <- tree
	}()
	for done := false; !done; {
		select {
		case tree := <-shown:
			if !strings.Contains(tree.String(), "└─ inner · supervisor · permanent · ") || !strings.Contains(tree.String(), "(it does not answer)") {
				t.Error(tree)
			}
			done = true
		case <-time.After(time.Millisecond):
			w.clock.pass(time.Second)
		}
	}
	close(hold)
	w.expect("start b")
}

func TestTreeOfAProcessThatIsNoSupervisorIsAnError(t *testing.T) {
	w := newWorld(t)
	if _, err := supervise.At(w.system, w.start(working.Spec(w.job("a")))).Tree(t.Context()); err == nil {
		t.Error("no error")
	}
}
