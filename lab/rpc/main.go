// Command rpc measures Go RPC libraries and Sabir side by side: one server process and one client process at a time, on
// this machine's loopback, the same message for all.
//
//	go run ./rpc                     echo of the 677-byte message with 1, 100 and 1000 callers
//	go run ./rpc -message 1MiB       echo of one field of 1 MiB against a raw copy
//	go run ./rpc -streams            1 KiB messages over streams, one way
//	go run ./rpc -carriers           each transport against its peers and its library's raw echo
//	go run ./rpc -quick              a smoke run
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

func main() {
	if childMain() {
		return
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "rpc:", err)
		os.Exit(1)
	}
}

// plan is what the flags ask for.
type plan struct {
	contenders []contender
	carriers   []carrier // in place of contenders
	mode       mode
	size       int // of a blob
	callers    []int
	runs       int
	duration   time.Duration
	json       bool
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	p, err := planOf(args, progress)
	if err != nil {
		return err
	}
	if len(p.carriers) > 0 {
		return p.runCarriers(ctx, out, progress)
	}
	groups := p.measure(ctx, progress)
	if p.json {
		return writeJSON(out, p, groups)
	}
	return writeTables(out, p, groups)
}

func planOf(args []string, messages io.Writer) (plan, error) {
	flags := flag.NewFlagSet("rpc", flag.ContinueOnError)
	flags.SetOutput(messages)
	callers := flags.String("callers", "", "concurrent callers, a list (default 1,100,1000; with -message 1,10; with -streams 1,10; with -carriers 100)")
	runs := flags.Int("runs", 5, "runs of each contender; the medians are shown")
	duration := flags.Duration("duration", 3*time.Second, "length of a run, without its warm-up of a fifth of that")
	only := flags.String("only", "", "contenders whose names contain one of these, a list")
	flags.StringVar(only, "rows", "", "the same as -only")
	var wanted carrierNames
	flags.Var(&wanted, "carriers", "measure all transports, each with its peers and the raw echo of its library; or some: -carriers=quic,nats")
	size := flags.String("message", "", "echo one field of this many bytes, such as 1MiB or 64KiB, in place of the 677-byte message")
	streams := flags.Bool("streams", false, "send messages of 1 KiB, or of -message, one way over a stream per caller")
	quick := flags.Bool("quick", false, "a smoke run: one run of 0.2 s, few contenders, 1 and 10 callers; with -carriers all, 10 callers")
	asJSON := flags.Bool("json", false, "write JSON")
	if err := flags.Parse(args); err != nil {
		return plan{}, err
	}
	if flags.NArg() > 0 {
		return plan{}, fmt.Errorf("%q is not a flag; see -help", flags.Arg(0))
	}
	p := plan{mode: callMode, runs: *runs, duration: *duration, json: *asJSON, callers: []int{1, 100, 1000}}
	if *size != "" || *streams {
		p.mode, p.size, p.callers = echoMode, 1<<10, []int{1, 10}
	}
	if *streams {
		p.mode = streamMode
	}
	if *size != "" {
		n, err := parseSize(*size)
		if err != nil {
			return plan{}, err
		}
		p.size = n
	}
	if len(wanted) > 0 {
		if *size != "" || *streams {
			return plan{}, errors.New("-carriers has messages of its own: leave out -message and -streams")
		}
		p.callers = []int{100}
	}
	if *quick {
		p.runs, p.duration, p.callers = 1, 200*time.Millisecond, []int{1, 10}
		if len(wanted) > 0 {
			p.callers = []int{10}
		}
	}
	if *callers != "" {
		list, err := parseCallers(*callers)
		if err != nil {
			return plan{}, err
		}
		p.callers = list
	}
	if p.runs < 1 || p.duration < 10*time.Millisecond {
		return plan{}, fmt.Errorf("-runs %d -duration %s: want at least 1 run of 10ms", p.runs, p.duration)
	}
	if len(wanted) > 0 {
		var err error
		p.carriers, err = chooseCarriers(wanted, *only)
		return p, err
	}
	p.contenders = choose(p.mode, *only, *quick)
	if len(p.contenders) == 0 {
		return plan{}, fmt.Errorf("no contender has -only %q and this mode; all: %s", *only, names(contenders()))
	}
	return p, nil
}

// maxBlob is the largest message that every contender can carry as it is set up.
const maxBlob = 32 << 20

func parseSize(text string) (int, error) {
	number, unit := text, 1
	for suffix, bytes := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20} {
		if before, ok := strings.CutSuffix(text, suffix); ok {
			number, unit = before, bytes
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > maxBlob/unit || n*unit < 8 {
		return 0, fmt.Errorf("-message %q: want 8 bytes to 32MiB, such as 1000, 64KiB or 1MiB", text)
	}
	return n * unit, nil
}

func parseCallers(text string) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 10_000 {
			return nil, fmt.Errorf("-callers %q: want numbers from 1 to 10000 with commas between them", text)
		}
		list = append(list, n)
	}
	return list, nil
}

func choose(m mode, only string, quick bool) []contender {
	var chosen []contender
	for _, c := range contenders() {
		if c.has(m) && (only == "" && (c.quick || !quick) || only != "" && containsOne(c.name, only)) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

func containsOne(name, list string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.Contains(name, strings.TrimSpace(part)) {
			return true
		}
	}
	return false
}

func names(all []contender) string {
	var list []string
	for _, c := range all {
		list = append(list, c.name)
	}
	return strings.Join(list, "; ")
}

// group is one contender with one number of callers, over all rounds.
type group struct {
	contender contender
	callers   int
	outcomes  []outcome
	failures  []string // of runs that came to no figures
}

// measure runs all contenders in each round, so that noise hits all alike.
func (p plan) measure(ctx context.Context, progress io.Writer) []group {
	var groups []group
	for _, callers := range p.callers {
		for _, c := range p.contenders {
			groups = append(groups, group{contender: c, callers: callers})
		}
	}
	bar := progressOf(len(groups)*p.runs, progress)
	for range p.runs {
		for i := range groups {
			g := &groups[i]
			bar.Describe(fmt.Sprintf("%s, %d callers", g.contender.name, g.callers))
			result, err := runOnce(ctx, g.contender, load{Mode: p.mode, Callers: g.callers, Size: p.size,
				Warmup: p.duration / 5, Duration: p.duration})
			g.add(result, err)
			bar.Add(1)
			if ctx.Err() != nil {
				return groups
			}
		}
	}
	bar.Finish()
	return groups
}

// progressOf shows a bar on a terminal and nothing elsewhere.
func progressOf(steps int, to io.Writer) *progressbar.ProgressBar {
	if file, ok := to.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return progressbar.DefaultSilent(int64(steps))
	}
	return progressbar.NewOptions(steps, progressbar.OptionSetWriter(to), progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
}
