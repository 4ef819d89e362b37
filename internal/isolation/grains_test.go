package isolation_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

// keeper is a grain whose state is a payload.
type keeper struct{ grain.State[Payload] }

func (k *keeper) keep(p *actor.Process, in askedFor) (string, error) {
	k.Value = Payload{Text: Text(in.Text)}
	if in.Deep {
		k.Value = with(nestsTooDeep)
	}
	return "kept", k.Save(p)
}

func (k *keeper) word(*actor.Process, sabir.Empty) (string, error) {
	return string(k.Value.Text), nil
}

// grainEntryPoints are the ways of states into a store and out of it.
var grainEntryPoints = []entryPoint{
	{name: "state of a grain, as JSON", open: savedAndLoaded(false), cannot: unchecked},
	{name: "state of a grain, native", open: savedAndLoaded(true), cannot: unchecked},
}

var keepers = grain.Define("keeper", grain.OnCall((*keeper).keep), grain.OnCall((*keeper).word))

// savedAndLoaded has one node save a state and another one, which is not linked with it, load it from the store of both.
func savedAndLoaded(native bool) func(*testing.T, *slog.Logger) way {
	return func(t *testing.T, log *slog.Logger) way {
		at := fmt.Sprintf("mem://isolation%d", numbers.Add(1))
		open := func(id string) *actor.System {
			kept, err := store.Open(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { kept.Close() })
			system := actor.NewSystem(actor.Config{Logger: log, Workers: 1})
			start(t, sabir.NodeID(id), sabir.Logger(log), system.Option(), grain.New(system, grain.Config{Store: kept, NativeState: native}, keepers).Option())
			return system
		}
		one, two := open("one"), open("two")
		return func(ctx context.Context, p Payload) error {
			key := fmt.Sprint(numbers.Add(1))
			if _, err := grain.Call[string](ctx, one, keepers.Key(key), askedFor{string(p.Text), p.Next != nil}); err != nil {
				return err
			}
			word, err := grain.Call[string](ctx, two, keepers.Key(key), sabir.Empty{})
			if err == nil && word != string(p.Text) {
				err = fmt.Errorf("the other node loaded %q", word)
			}
			return err
		}
	}
}
