// Chat is a chat room over any number of nodes. Start it in two or three terminals and type:
//
//	go run ./examples/chat -name ada
//	go run ./examples/chat -name bob
//	go run ./cmd/sabir processes --join tcp://127.0.0.1:7710
//
// The nodes meet at one address, tcp://127.0.0.1:7710 or that of -join. There is no server: the room is a group of
// processes, one for each user in it, on any node. Each is notified when another joins or leaves, also when a terminal is
// closed by kill -9. "/who" lists the members, "/quit" or Ctrl-D ends it.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	_ "github.com/sabir-go/sabir/transport/tcp" // tcp://
)

// room is the group of all members.
const room = "lobby"

// The messages that members send each other. Nothing must be registered: a process that handles a type can get it from
// another node.
type (
	// Hello is a member's name, to another that has just come to know of it.
	Hello struct{ Name string }
	// Said is a line, to all.
	Said struct{ Name, Text string }
)

// The messages to a member from its own terminal.
type (
	typed string
	who   struct{}
)

// member is a member of the room. Its callbacks run one at a time, so it needs no lock.
type member struct {
	name   string
	out    io.Writer
	others map[actor.PID]string // by name
}

type terminal struct {
	name string
	out  io.Writer
}

func (m *member) Init(p *actor.Process, t terminal) error {
	m.name, m.out, m.others = t.name, t.out, map[actor.PID]string{}
	if err := p.Join(room); err != nil {
		return err
	}
	known, err := p.MonitorGroup(room) // from now on each change comes as a GroupChange
	for _, other := range known {
		m.greet(p, other)
	}
	return err
}

// greet sends this member's name to another. Both do, as each comes to know of the other.
func (m *member) greet(p *actor.Process, other actor.PID) {
	if other != p.PID() {
		_ = actor.Send(p, other, Hello{m.name}) // if it has gone again, a GroupChange says so
	}
}

// Changed comes when a member has joined, when it ends, and when its node is lost.
func (m *member) Changed(p *actor.Process, g actor.GroupChange) error {
	if g.Joined {
		m.greet(p, g.PID)
	} else if name, known := m.others[g.PID]; known {
		delete(m.others, g.PID)
		m.print("* %s has left", name)
	}
	return nil
}

func (m *member) Hello(p *actor.Process, h Hello) error {
	if _, known := m.others[p.Sender()]; !known {
		m.others[p.Sender()] = h.Name
		m.print("* %s is here", h.Name)
	}
	return nil
}

func (m *member) Said(p *actor.Process, s Said) error {
	if p.Sender() != p.PID() { // the own line is on the screen already
		m.print("%s: %s", s.Name, s.Text)
	}
	return nil
}

func (m *member) Typed(p *actor.Process, text typed) error {
	return actor.SendGroup(p, room, Said{m.name, string(text)})
}

func (m *member) Who(*actor.Process, who) ([]string, error) {
	return slices.Sorted(maps.Values(m.others)), nil
}

// print writes text of other members without control characters, which could do anything to a terminal.
func (m *member) print(format string, args ...any) {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, fmt.Sprintf(format, args...))
	fmt.Fprintln(m.out, line)
}

var members = actor.Define("chat.member", (*member).Init,
	actor.OnMessage((*member).Changed), actor.OnMessage((*member).Hello), actor.OnMessage((*member).Said), actor.OnMessage((*member).Typed),
	actor.OnCall((*member).Who))

func main() {
	address := flag.String("join", "tcp://127.0.0.1:7710", "where the nodes meet")
	name := flag.String("name", os.Getenv("USER"), "what the others see")
	flag.Parse()
	if err := chat(context.Background(), *address, *name, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// chat takes part in the room until the input ends.
func chat(ctx context.Context, address, name string, in io.Reader, out io.Writer) error {
	if name == "" {
		return fmt.Errorf("say who you are: -name ada")
	}
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})) // links that end are no news here
	system := actor.NewSystem(actor.Config{Logger: quiet})
	id := "chat-" + strings.ToLower(rand.Text()[:6]) // two terminals may have one name
	node := sabir.NewNode(sabir.NodeID(id), sabir.Logger(quiet), system.Option(), sabir.Join(address))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = node.Stop(ctx)
	}()
	me, err := actor.Spawn(system, members, terminal{name, out})
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		switch text := strings.TrimSpace(lines.Text()); text {
		case "":
		case "/quit":
			return nil
		case "/who":
			others, err := actor.Ask(ctx, system, me, (*member).Who, who{})
			if err != nil {
				return err
			}
			fmt.Fprintln(out, "here:", strings.Join(append([]string{"you"}, others...), ", "))
		default:
			if err := actor.Tell(system, me, (*member).Typed, typed(text)); err != nil {
				return err
			}
		}
	}
	return nil
}
