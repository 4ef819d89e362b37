// Grains shows a grain for each user: a process that no code starts, whose state outlives every process of the operating
// system.
//
//	go run ./examples/grains -user ada     # visits once a second; kill it with kill -9, or Ctrl-C
//	go run ./examples/grains -user ada     # the visits go on where they were
//
// The states are in an embedded NATS JetStream, in a folder of the temporary ones, so nothing has to be installed. -store
// names another folder or another store, such as redis://127.0.0.1:6379. With -join tcp://:7700 several of these programs
// are one cluster, which shares out the users: start it twice, with two users, and see on which node they are.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	_ "github.com/sabir-go/sabir/transport/tcp" // tcp://
)

// Profile is the saved state of a user.
type Profile struct {
	Visits int       `json:"visits"`
	Last   time.Time `json:"last"`
}

// User is the grain.
type User struct{ grain.State[Profile] }

type (
	Visit   struct{ At time.Time }
	Visited struct {
		Visits int
		Node   string // where the grain is
	}
)

// Visit counts. When it answers, the store has it.
func (u *User) Visit(p *actor.Process, v Visit) (Visited, error) {
	u.Value.Visits++
	u.Value.Last = v.At
	return Visited{u.Value.Visits, p.PID().Node()}, u.Save(p)
}

var users = grain.Define("user", grain.OnCall((*User).Visit))

type settings struct {
	store, join, id, user string
	visits                int // 0: until it is interrupted
	every                 time.Duration
}

func main() {
	folder := filepath.Join(os.TempDir(), "sabir-grains")
	var s settings
	flag.StringVar(&s.store, "store", "nats://embedded?store="+url.QueryEscape(folder), "where the states are")
	flag.StringVar(&s.join, "join", "", "the cluster, such as tcp://:7700; none without it")
	flag.StringVar(&s.id, "id", "", "the node's name; made up without it")
	flag.StringVar(&s.user, "user", "ada", "who visits")
	flag.IntVar(&s.visits, "visits", 0, "how often; 0 is until the program is interrupted")
	flag.DurationVar(&s.every, "every", time.Second, "the time between visits")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, s); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, s settings) error {
	st, err := store.Open(ctx, s.store)
	if err != nil {
		return err
	}
	defer st.Close()

	system := actor.NewSystem(actor.Config{})
	grains := grain.New(system, grain.Config{Store: st, IdleAfter: time.Minute}, users)
	options := []sabir.NodeOption{system.Option(), grains.Option(), sabir.Logger(slog.New(slog.DiscardHandler))}
	if s.join != "" {
		options = append(options, sabir.Join(s.join))
	}
	if s.id != "" {
		options = append(options, sabir.NodeID(s.id))
	}
	node := sabir.NewNode(options...)
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(context.Background())

	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for n := 1; ; n++ {
		v, err := grain.Call[Visited](ctx, system, users.Key(s.user), Visit{time.Now()})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "visit %d of %s", v.Visits, s.user)
		if s.join != "" {
			fmt.Fprintf(out, ", on %s", v.Node)
		}
		fmt.Fprintln(out)
		if n == s.visits {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
