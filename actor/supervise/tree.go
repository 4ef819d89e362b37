package supervise

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sabir-go/sabir/actor"
)

// maxDepth bounds how deep Tree goes.
const maxDepth = 100

// Tree is a supervisor with all below it. It asks one supervisor after the other, so the tree may show what never was at one
// time. A supervisor below that does not answer is shown with its Problem. Errors are those of Describe for the first one,
// and of ctx.
func (s Supervisor) Tree(ctx context.Context) (Info, error) {
	root, err := s.Describe(ctx)
	if err != nil {
		return Info{}, err
	}
	root.grow(ctx, s.from, 1)
	return root, ctx.Err()
}

// grow asks the supervisors among the children.
func (i *Info) grow(ctx context.Context, from actor.Sender, depth int) {
	for n := range i.Children {
		below := &i.Children[n]
		if !below.Supervisor || below.PID.Zero() || ctx.Err() != nil {
			continue
		}
		if depth == maxDepth {
			below.Problem = fmt.Sprintf("the tree is shown to a depth of %d", maxDepth)
			continue
		}
		d, err := actor.Call[description](ctx, from, below.PID, describe{})
		if err != nil {
			below.Problem = reason(err)
			continue
		}
		below.add(d)
		below.grow(ctx, from, depth+1)
	}
}

func reason(err error) string {
	if errors.Is(err, actor.ErrCallTimeout) {
		return "it does not answer"
	}
	return err.Error()
}

// String draws the tree, one process a line:
//
//	shop · one-for-one · local/18a3f0c2d1e00000/1.1
//	├─ db · store · permanent · local/18a3f0c2d1e00000/2.1
//	└─ orders · supervisor, rest-for-one · permanent · local/18a3f0c2d1e00000/3.1 · 2 restarts
//	   └─ desk · desk · transient · ended
func (n Info) String() string {
	var b strings.Builder
	n.draw(&b, "", "")
	return b.String()
}

func (n Info) draw(b *strings.Builder, first, rest string) {
	b.WriteString(first)
	b.WriteString(strings.Join(n.words(), " · "))
	b.WriteByte('\n')
	for i, c := range n.Children {
		if i == len(n.Children)-1 && n.Unlisted == 0 {
			c.draw(b, rest+"└─ ", rest+"   ")
		} else {
			c.draw(b, rest+"├─ ", rest+"│  ")
		}
	}
	if n.Unlisted > 0 {
		fmt.Fprintf(b, "%s└─ %d more\n", rest, n.Unlisted)
	}
}

func (n Info) words() []string {
	var w []string
	add := func(word string) {
		if word != "" {
			w = append(w, word)
		}
	}
	add(n.ID)
	if n.Name != n.ID {
		add(n.Name)
	}
	switch {
	case n.Dynamic:
		add("dynamic supervisor")
	case n.Supervisor && n.Problem == "" && !n.PID.Zero():
		add("supervisor, " + n.Strategy)
	default:
		add(n.Behavior)
	}
	add(n.Restart)
	if n.State != running {
		add(n.State)
	}
	if !n.PID.Zero() {
		add(n.PID.String())
	}
	switch {
	case n.Restarts == 1:
		add("1 restart")
	case n.Restarts > 1:
		add(fmt.Sprintf("%d restarts", n.Restarts))
	}
	if n.Problem != "" {
		add("(" + n.Problem + ")")
	}
	return w
}
