package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/sabir-go/sabir/cmd/sabir/load"
)

// isTerminal reports whether output goes to a terminal: files, pipes and buffers are no terminals.
func isTerminal(w any) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// fileOf is the file that a stream is, if it is one.
func fileOf(stream any) (*os.File, bool) {
	if o, ok := stream.(*output); ok {
		stream = o.Writer
	}
	f, ok := stream.(*os.File)
	return f, ok
}

// style colours text, or not.
type style struct{ on bool }

// styleOf colours on a terminal, unless NO_COLOR (https://no-color.org) or TERM=dumb forbid it.
func styleOf(w io.Writer) style {
	return style{isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (s style) bold(text string) string  { return s.paint("1", text) }
func (s style) red(text string) string   { return s.paint("31", text) }
func (s style) green(text string) string { return s.paint("32", text) }

func (s style) paint(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// printable replaces control characters, so that a node's text cannot steer the terminal. Line breaks and tabs stay.
func printable(text string) string {
	bad := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }
	if !strings.ContainsFunc(text, bad) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if bad(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// progress shows the figures of a load and how much of d is over on stderr, if that is a terminal and --json is not set. notify changes them, done
// removes them.
func (c *cli) progress(what string, d time.Duration) (notify func(load.Plan, load.Progress), done func()) {
	line := newLiveLine(c.stderr)
	if c.json || !line.live {
		return func(load.Plan, load.Progress) {}, func() {}
	}
	notify = func(plan load.Plan, p load.Progress) {
		past := p.Elapsed
		if !p.Warming {
			past += plan.Warmup
		}
		line.show(fmt.Sprintf("%d %% %s%s", min(100*past/d, 99), what, figures(p)))
	}
	return notify, line.end
}

// widthOf is how many characters a line of a terminal has; 0 is no limit, as in files and pipes.
func widthOf(w io.Writer) int {
	if f, ok := fileOf(w); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// figures is a load so far, in short.
func figures(p load.Progress) string {
	perSecond := grouped(int64(float64(p.Calls) / max(p.Elapsed.Seconds(), 1e-3)))
	if p.Warming {
		return ", warming up: " + perSecond + "/s"
	}
	return fmt.Sprintf(": %s/s, %s failed", perSecond, grouped(p.Failed))
}
