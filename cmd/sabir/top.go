package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// topFlags are the flags of sabir top.
type topFlags struct {
	once  bool
	all   bool
	every time.Duration
	sort  string
}

func (c *cli) topCommand() *cobra.Command {
	var flags topFlags
	command := &cobra.Command{
		Use:     "top [flags]",
		GroupID: groupUse,
		Short:   "Watch what goes on in a cluster",
		Long: `Shows the nodes of a cluster and what their actions do, anew each second: calls
and errors a second, how long calls took in the nodes that ran them, and how many
are in flight. Use it to see which action is slow or fails, and what happens when
a node goes.

  q      quits                     s        sorts by the next column
  ↑ ↓    scroll the actions        PgUp PgDn  by a page

A node tells what its actions do where it serves telemetry.Stats, as the demo's
nodes do; others are listed without. Over HTTP it is the asked node alone. What is
no terminal gets one frame after the other as text.`,
		Example: `  sabir top --join tcp://:7700
  sabir top --join tcp://:7700 --sort p99
  sabir top --once --json --join tcp://:7700 | jq '.actions[0]'`,
		Args: takes(0, 0, "no argument"),
		RunE: func(command *cobra.Command, _ []string) error {
			if flags.every < minEvery || flags.every > time.Hour {
				return usagef("a look every %v cannot be: want %v to 1h", flags.every, minEvery)
			}
			sort := sortNamed(flags.sort)
			if sort < 0 {
				return usagef("there is no column %q to sort by: want one of %s", flags.sort, strings.Join(sortNames(), ", "))
			}
			return c.top(command.Context(), flags, sort)
		},
	}
	f := command.Flags()
	f.DurationVar(&flags.every, "every", time.Second, "how often to look")
	f.StringVar(&flags.sort, "sort", "calls", "the column to sort actions by: "+strings.Join(sortNames(), ", "))
	f.BoolVar(&flags.once, "once", false, "print one frame, of the time between two looks, and end")
	f.BoolVar(&flags.all, "all", false, "list the runtime's own actions too")
	if err := command.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(sortNames(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the command has the flag
	}
	return command
}

// minEvery keeps the watching from being the load.
const minEvery = 100 * time.Millisecond

func (c *cli) top(ctx context.Context, flags topFlags, sort int) error {
	to, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer to.Close()
	o := &observer{cli: c, to: to, all: flags.all}
	first, err := o.look(ctx)
	if err != nil {
		return err
	}
	tick := time.NewTicker(flags.every)
	defer tick.Stop()
	s := &screen{title: to.Name(), sort: sort, style: styleOf(c.stdout), figures: first}
	if !flags.once && !c.json && isTerminal(c.stdout) && os.Getenv("TERM") != "dumb" {
		return c.topLive(ctx, o, s, tick.C)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if s.figures, err = o.look(ctx); err != nil {
			return err
		}
		if c.json {
			writeJSON(c.stdout, s.figures)
		} else {
			fmt.Fprintln(c.stdout, strings.Join(s.frame(0, 0), "\n")+"\n")
		}
		if out, ok := c.stdout.(*output); ok && out.failure() != nil {
			return out.failure() // nobody sees the frames that follow
		}
		if flags.once {
			if len(s.figures.Mute) == len(s.figures.Nodes) {
				return failf("no node tells what its actions do: %s", s.figures.why())
			}
			return nil
		}
	}
}

// Terminal sequences: the second screen and back, the cursor hidden and shown, home, the rest of a line, and all below.
const (
	screenOn  = "\x1b[?1049h\x1b[?25l"
	screenOff = "\x1b[?25h\x1b[?1049l"
	home      = "\x1b[H"
	clearLine = "\x1b[K"
	clearDown = "\x1b[J"
)

// topLive draws frames on a terminal until q or the end of the context.
func (c *cli) topLive(ctx context.Context, o *observer, s *screen, tick <-chan time.Time) error {
	keys := make(chan key)
	if in, ok := c.stdin.(*os.File); ok && isTerminal(in) {
		before, err := term.MakeRaw(int(in.Fd()))
		if err == nil {
			defer term.Restore(int(in.Fd()), before)
			go readKeys(in, keys) // a read cannot be called off: it ends with the process
		}
	}
	fmt.Fprint(c.stdout, screenOn)
	defer fmt.Fprint(c.stdout, screenOff)
	looks := make(chan look, 1)
	looking := false
	for {
		c.draw(s)
		select {
		case <-ctx.Done():
			return nil
		case k := <-keys:
			if s.press(k) {
				return nil
			}
		case <-tick:
			if !looking { // one look at a time, and none holds up the keys
				looking = true
				go func() { looks <- newLook(ctx, o) }()
			}
		case l := <-looks:
			looking, s.trouble = false, ""
			if l.err != nil {
				s.trouble = l.err.Error()
				continue
			}
			s.figures = l.figures
		}
	}
}

// look is the result of one observation, or its error.
type look struct {
	figures clusterFigures
	err     error
}

func newLook(ctx context.Context, o *observer) look {
	figures, err := o.look(ctx)
	return look{figures, err}
}

func (c *cli) draw(s *screen) {
	width, height := 80, 24
	if f, ok := fileOf(c.stdout); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			width, height = w, h
		}
	}
	var text strings.Builder
	text.WriteString(home)
	lines := s.frame(width, height)
	for i, line := range lines {
		text.WriteString(line + clearLine)
		if i < len(lines)-1 {
			text.WriteString("\r\n")
		}
	}
	text.WriteString(clearDown)
	_, _ = io.WriteString(c.stdout, text.String()) // a terminal that is gone ends the process by its signal
}
