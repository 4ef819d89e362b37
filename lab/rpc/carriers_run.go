package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"

	"github.com/sabir-go/sabir/brokers"

	"github.com/sabir-go/sabir/lab/peers"
)

// carrierNames is the flag -carriers: all of them, or those with the names after "=".
type carrierNames []string

func (n *carrierNames) String() string { return strings.Join(*n, ",") }

// IsBoolFlag lets the flag stand alone.
func (n *carrierNames) IsBoolFlag() bool { return true }

func (n *carrierNames) Set(text string) error {
	if text == "true" {
		text = "all"
	}
	for name := range strings.SplitSeq(text, ",") {
		*n = append(*n, strings.TrimSpace(name))
	}
	return nil
}

// chooseCarriers takes the carriers by their whole names, and of these the rows whose names contain one of a list.
func chooseCarriers(wanted []string, only string) ([]carrier, error) {
	var chosen []carrier
	for _, c := range carriers() {
		if !slices.Contains(wanted, "all") && !slices.Contains(wanted, c.name) {
			continue
		}
		wanted = slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return name == c.name })
		c.rows = slices.DeleteFunc(c.rows, func(r row) bool { return only != "" && !containsOne(r.name, only) })
		if len(c.rows) > 0 {
			chosen = append(chosen, c)
		}
	}
	if unknown := slices.DeleteFunc(wanted, func(name string) bool { return name == "all" }); len(unknown) > 0 || len(chosen) == 0 {
		var all []string
		for _, c := range carriers() {
			all = append(all, c.name)
		}
		return nil, fmt.Errorf("-carriers=%s -only %q: nothing to measure, or unknown: %s; carriers are %s", strings.Join(wanted, ","), only,
			strings.Join(unknown, ","), strings.Join(all, ", "))
	}
	return chosen, nil
}

// carrierGroups are a carrier's rows with one number of callers, over all rounds.
type carrierGroups struct {
	carrier carrier
	callers int
	groups  []group // in the order of carrier.rows
}

// measureCarriers measures one carrier after another, so that no more than one broker runs, and calls done after each with
// each number of callers. What cannot be measured is in missing, and said to progress at once.
func (p plan) measureCarriers(ctx context.Context, progress io.Writer, done func(carrierGroups) error) (missing []string, err error) {
	lacks := func(format string, arguments ...any) {
		text := fmt.Sprintf(format, arguments...)
		missing = append(missing, text)
		fmt.Fprintln(progress, "! NOT MEASURED:", text)
	}
	all := p.carriers
	if withNode(all) {
		if _, err := peers.Node(ctx, progress); err != nil {
			if !errors.Is(err, peers.ErrMissing) {
				return nil, err
			}
			lacks("Moleculer and cote: %v", err)
			all = withoutNode(all)
		}
	}
	steps := 0
	for _, c := range all {
		steps += len(c.rows) * p.runs * len(p.callers)
	}
	bar := progressOf(steps, progress)
	defer bar.Finish()
	for _, c := range all {
		broker, err := startBroker(c.broker)
		if errors.Is(err, brokers.ErrMissing) {
			lacks("all of %s: %v", c.name, err)
			continue
		}
		if err != nil {
			return missing, err
		}
		err = p.measureCarrier(ctx, c, broker, bar, done)
		if broker != nil {
			err = errors.Join(err, broker.Close())
		}
		if err != nil || ctx.Err() != nil {
			return missing, err
		}
	}
	return missing, nil
}

func startBroker(kind brokers.Kind) (*brokers.Server, error) {
	if kind == "" {
		return nil, nil
	}
	return brokers.Start(kind, brokers.Config{})
}

func withNode(all []carrier) bool {
	return slices.ContainsFunc(all, func(c carrier) bool { return slices.ContainsFunc(c.rows, func(r row) bool { return r.node }) })
}

func withoutNode(all []carrier) []carrier {
	for i := range all {
		all[i].rows = slices.DeleteFunc(all[i].rows, func(r row) bool { return r.node })
	}
	return slices.DeleteFunc(all, func(c carrier) bool { return len(c.rows) == 0 })
}

func (p plan) measureCarrier(ctx context.Context, c carrier, broker *brokers.Server, bar *progressbar.ProgressBar, done func(carrierGroups) error) error {
	for _, callers := range p.callers {
		measured := carrierGroups{carrier: c, callers: callers, groups: make([]group, len(c.rows))}
		for i, r := range c.rows {
			measured.groups[i] = group{contender: r.contender, callers: callers}
		}
		for range p.runs {
			for i, r := range c.rows {
				bar.Describe(fmt.Sprintf("%s, %d callers", r.name, callers))
				measured.groups[i].add(p.runRow(ctx, r, callers, broker))
				bar.Add(1)
				if ctx.Err() != nil {
					return done(measured)
				}
			}
		}
		bar.Clear()
		if err := done(measured); err != nil {
			return err
		}
	}
	return nil
}

func (p plan) runRow(ctx context.Context, r row, callers int, broker *brokers.Server) (outcome, error) {
	l := load{Mode: r.mode, Callers: callers, Size: tinyBytes, Warmup: p.duration / 5, Duration: p.duration}
	if r.node {
		l.Warmup = p.duration // Node compiles what runs often while it runs
	}
	if broker != nil {
		return runAt(ctx, r.contender, l, broker.URL(), broker)
	}
	return runOnce(ctx, r.contender, l)
}

// add notes a run.
func (g *group) add(result outcome, err error) {
	if err != nil {
		g.failures = append(g.failures, err.Error())
		return
	}
	g.outcomes = append(g.outcomes, result)
}

// carriedFigures is one row as it is shown.
type carriedFigures struct {
	figures
	Carrier   string  `json:"carrier"`
	Message   string  `json:"message"`
	Ours      bool    `json:"ours"`
	Than      string  `json:"sabir_row,omitempty"`         // the row of Sabir that it is compared with
	Ratio     float64 `json:"sabir_is,omitempty"`          // that row's calls per second by this row's
	SameCodec float64 `json:"sabir_protobuf_is,omitempty"` // the same of the row of Sabir with protobuf, for peers with protobuf
	Want      float64 `json:"wanted,omitempty"`
}

// figures are the rows of a carrier.
func (c carrierGroups) figures() []carriedFigures {
	all := make([]carriedFigures, len(c.groups))
	for i, g := range c.groups {
		r := c.carrier.rows[i]
		all[i] = carriedFigures{figures: g.figures(), Carrier: c.carrier.name, Message: r.message(), Ours: r.ours, Want: r.want}
	}
	for i := range all {
		one := &all[i]
		if one.Ours {
			continue
		}
		mode := c.carrier.rows[i].comparedMode()
		at := slices.IndexFunc(c.carrier.rows, func(r row) bool { return r.ours && r.mode == mode })
		if at < 0 || one.PerSecond.Median == 0 || all[at].PerSecond.Median == 0 {
			continue
		}
		one.Than = all[at].Contender
		one.Ratio = all[at].PerSecond.Median / one.PerSecond.Median
		same := slices.IndexFunc(all, func(f carriedFigures) bool { return f.Ours && f.Codec == one.Codec })
		if same >= 0 {
			one.SameCodec = all[same].PerSecond.Median / one.PerSecond.Median
		}
	}
	return all
}

// comparedMode is the mode of Sabir's row that this one is compared with.
func (r row) comparedMode() mode {
	if r.mode == batchMode {
		return callMode
	}
	return r.mode
}

func (r row) message() string {
	switch {
	case r.mode == echoMode:
		return "10 B"
	case r.node:
		return "677 B*"
	}
	return "677 B"
}

// verdict is whether the demand is met.
func (f carriedFigures) verdict() string {
	switch {
	case f.Want == 0:
		return ""
	case f.Ratio == 0:
		return "not known"
	case f.Ratio < f.Want:
		return "BELOW"
	}
	return "met"
}
