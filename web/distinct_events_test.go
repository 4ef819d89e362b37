package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

// An action may emit events whose names come from outside. However many there are, the links of the cluster carry what others do
// afterwards, also what was never used on them: an action, a stream and an event.
func TestEventsOfManyNamesFromOutsideLeaveTheLinksAsTheyWere(t *testing.T) {
	listener := sabir.NewService("listener")
	got := make(chan string, 20_000)
	sabir.On(listener, "user.**", func(ctx context.Context, _ any) error { got <- sabir.InfoFromContext(ctx).Event; return nil })
	startAs(t, "worker", sabir.Join("mem://"+t.Name()), sabir.Serve(shop(), store(), listener))
	type occurrence struct {
		Event     string `json:"event"`
		Broadcast bool   `json:"broadcast"`
	}
	diary := sabir.NewService("diary")
	sabir.Handle(diary, "note", func(ctx context.Context, in occurrence) (sabir.Empty, error) {
		if in.Broadcast {
			return sabir.Empty{}, sabir.Broadcast(ctx, diary, in.Event, sabir.Empty{})
		}
		return sabir.Empty{}, sabir.Emit(ctx, diary, in.Event, sabir.Empty{})
	})
	gateway := startAs(t, "gateway", sabir.Join("mem://"+t.Name()), sabir.Serve(diary), sabir.HTTP(":0", With(Config{Forward: []string{"shop.*", "items.*"}})))
	if err := gateway.WaitFor(t.Context(), "shop", "items", "listener"); err != nil {
		t.Fatal(err)
	}
	base := "http://" + gateway.HTTPAddr()
	const batches, calls = 60, 100
	for b := range batches {
		var list []string
		for i := range calls {
			list = append(list, fmt.Sprintf(`{"action":"diary.note","input":{"event":"user.%d.seen","broadcast":%v}}`, b*calls+i, i%2 == 0))
		}
		answer := post(t, base+"/batch", "["+strings.Join(list, ",")+"]")
		if answer.status != 200 || strings.Count(answer.body, `"status":200`) != calls {
			t.Fatalf("batch %d: %d %.300s", b, answer.status, answer.body)
		}
	}
	seen := map[string]bool{}
	for len(seen) < batches*calls {
		select {
		case name := <-got:
			seen[name] = true
		default:
			t.Fatalf("%d of %d events came", len(seen), batches*calls)
		}
	}
	if answer := post(t, base+"/shop/hello", `{"name":"Ada"}`); answer.status != 200 {
		t.Errorf("an action that was not used before: %d %s", answer.status, answer.body)
	}
	if answer := post(t, base+"/items/tail", `{"name":"x"}`); answer.status != 200 {
		t.Errorf("a stream that was not used before: %d %s", answer.status, answer.body)
	}
	if answer := post(t, base+"/diary/note", `{"event":"user.created"}`); answer.status != 200 || <-got != "user.created" {
		t.Errorf("an event that was not used before: %d %s", answer.status, answer.body)
	}
}
