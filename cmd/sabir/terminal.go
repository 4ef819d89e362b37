package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
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

// progress shows a bar on stderr that is full after d, with the figures of the load, if that is a terminal and --json
// is not set. tell moves it, done removes it.
func (c *cli) progress(what string, d time.Duration) (notify func(load.Plan, load.Progress), done func()) {
	if c.json || !isTerminal(c.stderr) {
		return func(load.Plan, load.Progress) {}, func() {}
	}
	bar := progressbar.NewOptions64(d.Milliseconds(), progressbar.OptionSetWriter(c.stderr), progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(true), progressbar.OptionEnableColorCodes(false))
	notify = func(plan load.Plan, p load.Progress) {
		past := p.Elapsed
		if !p.Warming {
			past += plan.Warmup
		}
		bar.Describe(what + figures(p))
		_ = bar.Set64(min(past.Milliseconds(), d.Milliseconds()-1)) // a bar that cannot be drawn harms nothing
	}
	return notify, func() { _ = bar.Finish() }
}

// figures is a load so far, in short.
func figures(p load.Progress) string {
	perSecond := grouped(int64(float64(p.Calls) / max(p.Elapsed.Seconds(), 1e-3)))
	if p.Warming {
		return ", warming up: " + perSecond + "/s"
	}
	return fmt.Sprintf(": %s/s, %s failed", perSecond, grouped(p.Failed))
}
