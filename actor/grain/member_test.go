package grain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// ledger keeps the number of each payment that it has taken.
type ledger struct{ grain.State[payments] }

type payments struct{ Numbers []int }

type (
	pay   struct{ Number int }
	taken struct{}
)

func (l *ledger) Pay(p *actor.Process, m pay) (int, error) {
	l.Value.Numbers = append(l.Value.Numbers, m.Number)
	return len(l.Value.Numbers), l.Save(p)
}

func (l *ledger) Taken(*actor.Process, taken) ([]int, error) { return l.Value.Numbers, nil }

var ledgers = grain.Define("ledger", grain.OnCall((*ledger).Pay), grain.OnCall((*ledger).Taken).Strong())

// memberVariable holds what a process of this test binary is to be: a node of TestNoPaymentIsLostOrTakenTwice.
const memberVariable = "SABIR_GRAIN_MEMBER"

type setup struct{ ID, Store, Seed string }

const chaos = "grain-chaos" // the cluster

// runMember is a node until its standard input ends.
func runMember(text string) {
	var s setup
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	st, err := store.Open(ctx, s.Store)
	if err != nil {
		log.Fatal(err)
	}
	system := actor.NewSystem(actor.Config{})
	grains := grain.New(system, grain.Config{Store: st}, ledgers)
	node := sabir.NewNode(sabir.NodeID(s.ID), sabir.Logger(slog.New(slog.DiscardHandler)), system.Option(), grains.Option(),
		sabir.Join("tcp://127.0.0.1:0", cluster.Config{Name: chaos, Seeds: []string{s.Seed}}))
	if err := node.Start(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("started")
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that counts
	if err := node.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	_ = st.Close() // the process ends
}
