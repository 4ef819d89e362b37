package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
)

// liveLine is a line that is written over and over at the bottom of a terminal. Elsewhere each becomes a line of its own.
type liveLine struct {
	live bool
	mu   sync.Mutex
	w    io.Writer
	text string // as it stands there now
}

func newLiveLine(w io.Writer) *liveLine {
	return &liveLine{live: isTerminal(w) && os.Getenv("TERM") != "dumb", w: w}
}

const eraseLine = "\r\x1b[K"

// show replaces the line.
func (l *liveLine) show(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.live {
		fmt.Fprintln(l.w, text)
		return
	}
	l.text = fit(text, widthOf(l.w)-1) // a longer one would begin a line that is not erased
	fmt.Fprint(l.w, eraseLine+l.text)
}

// end removes the line.
func (l *liveLine) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text != "" {
		fmt.Fprint(l.w, eraseLine)
		l.text = ""
	}
}

// above returns a writer for whole lines that may go to the same terminal: they push the live line down.
func (l *liveLine) above(w io.Writer) io.Writer { return &aboveLine{l, w} }

type aboveLine struct {
	line *liveLine
	w    io.Writer
}

func (a *aboveLine) Write(p []byte) (int, error) {
	l := a.line
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == "" {
		return a.w.Write(p)
	}
	fmt.Fprint(l.w, eraseLine)
	n, err := a.w.Write(p)
	fmt.Fprint(l.w, l.text)
	return n, err
}

// demoLog writes warnings and errors, one a line. Of a panic's stack it keeps where the panic was: the demo panics on
// purpose. Its dead letters and its couriers that fall are on purpose too, and many: the dashboard shows them.
func demoLog(w io.Writer) slog.Handler {
	return exceptDemo{slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == "stack" {
			return slog.String("at", panicPlace(a.Value.String()))
		}
		return a
	}})}
}

// exceptDemo leaves out what the demo does on purpose all the time.
type exceptDemo struct{ slog.Handler }

func (h exceptDemo) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "channel: a message became a dead letter" || r.Message == "a child ended" {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h exceptDemo) WithAttrs(attrs []slog.Attr) slog.Handler {
	return exceptDemo{h.Handler.WithAttrs(attrs)}
}

func (h exceptDemo) WithGroup(name string) slog.Handler { return exceptDemo{h.Handler.WithGroup(name)} }

// panicPlace finds in a stack, as runtime/debug.Stack writes it, the file and line that panicked.
func panicPlace(stack string) string {
	_, below, _ := strings.Cut(stack, "\npanic(")
	lines := strings.Split(below, "\n")
	for i := 2; i+1 < len(lines); i += 2 { // a function, then its file and line
		if !strings.HasPrefix(lines[i], "runtime.") {
			place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
			return place
		}
	}
	return "?"
}
