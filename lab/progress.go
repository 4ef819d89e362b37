package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows what a run does: on a terminal a bar with the time left, elsewhere a line when a table begins or something
// goes wrong.
type progress struct {
	out   io.Writer
	bar   *progressbar.ProgressBar // nil away from a terminal
	steps int
	done  int
	begun time.Time
	said  time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out} }

// sayEach is the interval between two lines of progress where there is no terminal.
const sayEach = 15 * time.Second

func (p *progress) Begin(steps int) {
	p.steps, p.begun, p.said = steps, time.Now(), time.Now()
	if file, ok := p.out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(p.out), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20),
			progressbar.OptionFullWidth())
	}
}

func (p *progress) Step(what string) {
	p.done++
	if p.bar != nil {
		p.bar.Describe(what)
		p.bar.Add(1)
		return
	}
	if time.Since(p.said) > sayEach {
		p.said = time.Now()
		left := time.Duration(float64(time.Since(p.begun)) / float64(p.done) * float64(p.steps-p.done)).Round(time.Second)
		fmt.Fprintf(p.out, "%d of %d, about %s left: %s\n", p.done, p.steps, left, what)
	}
}

func (p *progress) Skip(steps int) {
	p.done += steps
	if p.bar != nil {
		p.bar.Add(steps)
	}
}

func (p *progress) Note(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// Write shows a text beside the bar.
func (p *progress) Write(text []byte) (int, error) {
	p.clear()
	return p.out.Write(text)
}

// clear removes the bar from the line for a text; the bar comes back with the next step.
func (p *progress) clear() {
	if p.bar != nil {
		p.bar.Clear()
	}
}

func (p *progress) end() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
