package simulation_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/simulation"
)

var (
	simulate = flag.Int("simulate", usualCount, "how many histories")
	first    = flag.Uint64("first", 1, "the seed of the first")
	stride   = flag.Uint64("stride", 1, "from one seed to the next")
	worker   = flag.Bool("worker", false, "run the histories in this process, and report them")
	one      = flag.Uint64("seed", 0, "play this history, with its log")
	steps    = flag.String("steps", "", "and these steps of it only: 0-3,7")
	times    = flag.Int("times", 1, "so often")
	quiet    = flag.Bool("quiet", false, "without its log")
)

// TestHistories plays histories in processes of their own, since a bubble in which goroutines are left ends its process. Each has one
// processor, so that goroutines run in nearly the same order where a history is played again.
func TestHistories(t *testing.T) {
	if *worker {
		playAll(t)
		return
	}
	if *one != 0 {
		t.Skip("TestReplay plays it")
	}
	brokers.Long(t)
	var mu sync.Mutex
	failed := map[uint64]string{}
	played := 0
	var workers sync.WaitGroup
	count := min(runtime.NumCPU(), *simulate)
	for i := range count {
		workers.Go(func() {
			from, left := *first+uint64(i), (*simulate-i+count-1)/count
			for left > 0 { // a process ends at the first history that fails
				last, n, report := playIn(t.Context(), from, left, uint64(count))
				mu.Lock()
				played += n
				if report != "" {
					failed[last] = report
				}
				enough := len(failed) >= 5
				mu.Unlock()
				if n == 0 || enough {
					return
				}
				left -= n
				from = last + uint64(count)
			}
		})
	}
	workers.Wait()
	if played < *simulate && len(failed) == 0 {
		t.Errorf("%d of %d histories were played", played, *simulate)
	}
	shrunk := false
	for seed, report := range failed {
		h := simulation.NewHistory(seed)
		if !shrunk { // of one: it takes a while
			shrunk = true
			h = simulation.Shrink(h, 100, func(h simulation.History) bool { return failsAgain(t.Context(), h) })
		}
		command := fmt.Sprintf("./test simulate seed %d", seed)
		if fewer := h.Numbers(); fewer != simulation.NewHistory(seed).Numbers() {
			command += " steps " + fewer
		}
		t.Errorf("%s\nTo play it again: %s\n%s", report, command, h)
	}
}

// playAll plays histories in this process until one fails.
func playAll(t *testing.T) {
	out := bufio.NewWriter(os.Stderr)
	defer out.Flush()
	seed := *first
	for range *simulate {
		fmt.Fprintf(out, "seed %d\n", seed)
		out.Flush()
		faults := play(t, simulation.NewHistory(seed), slog.New(slog.DiscardHandler))
		if len(faults) > 0 {
			fmt.Fprintf(out, "%s\n", strings.Join(faults, "\n"))
			t.Fail()
			return
		}
		seed += *stride
	}
	fmt.Fprintln(out, "all played")
}

func play(t *testing.T, h simulation.History, log *slog.Logger) (faults []string) {
	// The time of a bubble stands where a goroutine waits for a mutex that another one holds while it sleeps.
	hangs := time.AfterFunc(2*time.Minute, func() {
		buf := make([]byte, 4<<20)
		fmt.Fprintf(os.Stderr, "seed %d hangs\n%s\n", h.Seed, buf[:runtime.Stack(buf, true)])
		os.Exit(3)
	})
	defer hangs.Stop()
	bubbletest.Run(t, func(*testing.T) { faults = simulation.Run(h, log) })
	return faults
}

// playIn plays histories in another process. It returns the last one, how many there were, and the report of its failure; "" for none.
func playIn(ctx context.Context, from uint64, count int, stride uint64) (last uint64, played int, report string) {
	output, err := runSelf(ctx, "^TestHistories$", "-worker", "-first", fmt.Sprint(from), "-simulate", fmt.Sprint(count), "-stride", fmt.Sprint(stride))
	lines := strings.Split(string(output), "\n")
	begins := 0
	for i, line := range lines {
		if text, ok := strings.CutPrefix(line, "seed "); ok {
			if seed, err := strconv.ParseUint(text, 10, 64); err == nil {
				last, played, begins = seed, played+1, i
			}
		}
	}
	if err == nil {
		return last, played, ""
	}
	lines = lines[begins:]
	return last, played, strings.Join(lines[:min(len(lines), 60)], "\n")
}

// failsAgain plays a history a few times in another process.
func failsAgain(ctx context.Context, h simulation.History) bool {
	_, err := runSelf(ctx, "^TestReplay$", "-seed", fmt.Sprint(h.Seed), "-steps", h.Numbers(), "-times", "5", "-quiet")
	return err != nil
}

func runSelf(ctx context.Context, test string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, os.Args[0], append([]string{"-test.run", test, "-test.timeout", "0"}, args...)...)
	command.Env = append(os.Environ(), "GOMAXPROCS=1")
	return command.CombinedOutput()
}

func TestReplay(t *testing.T) {
	if *one == 0 {
		t.Skip("-seed says which history")
	}
	h := simulation.NewHistory(*one)
	if *steps != "" {
		list, err := simulation.ParseNumbers(*steps)
		if err != nil {
			t.Fatal(err)
		}
		h = h.Only(list)
	}
	log := slog.New(slog.DiscardHandler)
	if !*quiet {
		fmt.Print(h)
		log = slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	for range *times {
		for _, fault := range play(t, h, log) {
			t.Error(fault)
		}
		if t.Failed() {
			return
		}
	}
}

func TestAHistoryFollowsFromItsSeed(t *testing.T) {
	for seed := range uint64(20) {
		if a, b := simulation.NewHistory(seed).String(), simulation.NewHistory(seed).String(); a != b {
			t.Errorf("seed %d gives two histories:\n%s\n%s", seed, a, b)
		}
	}
}

func TestHistoriesHaveEachKindOfClusterAndOfStep(t *testing.T) {
	var broker, key, sparse bool
	seen := map[simulation.Kind]bool{}
	for seed := range uint64(100) {
		h := simulation.NewHistory(seed)
		broker, key, sparse = broker || h.Broker, key || h.Key, sparse || h.Sparse
		for _, s := range h.Steps {
			seen[s.Kind] = true
		}
	}
	if !broker || !key || !sparse {
		t.Errorf("a broker: %t, a key: %t, links on demand: %t", broker, key, sparse)
	}
	for _, kind := range []simulation.Kind{simulation.Call, simulation.CallIdempotent, simulation.Stream, simulation.Emit, simulation.Note, simulation.Ask,
		simulation.Monitor, simulation.Link, simulation.Pay, simulation.AddService, simulation.RemoveService, simulation.Cut, simulation.Hold, simulation.HoldOne,
		simulation.Slow, simulation.Reset, simulation.HalfOpen, simulation.Stall, simulation.Restart, simulation.Kill, simulation.Vanish, simulation.NoBroker,
		simulation.NoStore} {
		if !seen[kind] {
			t.Errorf("no history has the step %q", kind)
		}
	}
}

func TestShrinkKeepsAStep(t *testing.T) {
	got := simulation.Shrink(simulation.NewHistory(1), 1000, func(simulation.History) bool { return true })
	if len(got.Steps) != 1 {
		t.Errorf("%d steps are left of a history that always fails", len(got.Steps))
	}
}

func TestShrinkKeepsWhatAFailureNeeds(t *testing.T) {
	h := simulation.NewHistory(1)
	needed := []int{3, h.Steps[len(h.Steps)-1].Number}
	got := simulation.Shrink(h, 1000, func(h simulation.History) bool {
		return has(h, needed[0]) && has(h, needed[1])
	})
	for _, n := range needed {
		if !has(got, n) {
			t.Errorf("step %d is left out", n)
		}
	}
	if len(got.Steps) != 2 {
		t.Errorf("%d steps are left: %s", len(got.Steps), got.Numbers())
	}
}

func has(h simulation.History, number int) bool {
	return slices.ContainsFunc(h.Steps, func(s simulation.Step) bool { return s.Number == number })
}

func TestNumbersOfStepsAreReadAsTheyAreWritten(t *testing.T) {
	h := simulation.NewHistory(2).Only([]int{0, 1, 2, 5, 9, 10})
	if got := h.Numbers(); got != "0-2,5,9-10" {
		t.Errorf("got %s", got)
	}
	list, err := simulation.ParseNumbers(h.Numbers())
	if err != nil || !slices.Equal(list, []int{0, 1, 2, 5, 9, 10}) {
		t.Errorf("got %v, %v", list, err)
	}
	for _, bad := range []string{"", "a", "3-1", "1,,2"} {
		if _, err := simulation.ParseNumbers(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
