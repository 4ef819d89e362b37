// Command matrix runs the conformance suite over every transport and prints what passed, as a table of subjects and
// transports:
//
//	go run ./internal/conformance/matrix            # all transports; real brokers are started where they are installed
//	go run ./internal/conformance/matrix -run NATS  # those whose test's name matches
//	go run ./internal/conformance/matrix -markdown  # the table as Markdown
//
// It ends with an error where a behaviour failed, and lists which.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/conformance"
)

func main() {
	which := flag.String("run", "", "a pattern of the tests of transports, such as 'TCP|NATS'; all without it")
	race := flag.Bool("race", false, "with the race detector")
	markdown := flag.Bool("markdown", false, "print Markdown")
	flag.Parse()
	if err := run(*which, *race, *markdown); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

func run(which string, race, markdown bool) error {
	args := []string{"test", "-json", "-timeout", "30m", "-count", "1", "-run", which}
	if race {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "github.com/sabir-go/sabir/internal/conformance")...)
	cmd.Env = append(os.Environ(), brokers.TestAll+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	results, other, err := read(out)
	if err != nil {
		return err
	}
	waited := cmd.Wait()
	if len(results) == 0 {
		fmt.Fprint(os.Stderr, other)
		return fmt.Errorf("no transport was tested (%v)", waited)
	}
	failed := show(os.Stdout, results, markdown)
	if failed > 0 {
		return fmt.Errorf("%d behaviours failed", failed)
	}
	return waited
}

// results has the result of each behaviour: "pass", "fail" or "skip", by transport and behaviour.
type results map[string]map[string]string

// event is a line of go test -json.
type event struct{ Action, Test, Output string }

// read follows the tests, and shows on a terminal how many are done. It also returns the output outside of behaviours.
func read(in io.Reader) (results, string, error) {
	found := make(results)
	var other strings.Builder
	done := 0
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		// TestNATS/nats/a_behaviour_in_words
		parts := strings.SplitN(e.Test, "/", 3)
		if len(parts) < 3 {
			if e.Action == "output" {
				other.WriteString(e.Output)
			}
			if len(parts) == 1 && e.Action == "skip" {
				fmt.Fprintf(os.Stderr, "NOT TESTED: %s, see below\n", e.Test)
			}
			continue
		}
		switch e.Action {
		case "pass", "fail", "skip":
			if found[parts[1]] == nil {
				found[parts[1]] = make(map[string]string)
			}
			found[parts[1]][parts[2]] = e.Action
			if done++; done%50 == 0 {
				fmt.Fprintf(os.Stderr, "\r%d behaviours done ", done)
			}
		}
	}
	fmt.Fprint(os.Stderr, "\r                            \r")
	return found, other.String(), lines.Err()
}

// show prints the table and returns the number of behaviours that failed.
func show(w io.Writer, found results, markdown bool) (failed int) {
	var transports []string
	for name := range found {
		transports = append(transports, name)
	}
	slices.Sort(transports)
	bar, edge := "  ", ""
	if markdown {
		bar, edge = " | ", "|"
	}
	width := 0
	for _, part := range conformance.Behaviours() {
		width = max(width, len(part.Subject))
	}
	line := func(subject string, cell func(transport string) string) {
		fmt.Fprintf(w, "%s%-*s", strings.TrimLeft(edge+" ", " "), width, subject)
		for _, t := range transports {
			fmt.Fprintf(w, "%s%*s", bar, max(len(t), 5), cell(t))
		}
		fmt.Fprintln(w, edge)
	}
	line("", func(t string) string { return strings.ReplaceAll(t, "_", " ") })
	if markdown {
		line("---", func(string) string { return "---" })
	}
	var faults []string
	for _, part := range conformance.Behaviours() {
		line(part.Subject, func(t string) string {
			passed, all := 0, 0
			for _, b := range part.Behaviours {
				switch found[t][strings.ReplaceAll(b, " ", "_")] {
				case "pass":
					passed++
					all++
				case "fail":
					all++
					failed++
					faults = append(faults, t+": "+b)
				}
			}
			if all == 0 {
				return "-"
			}
			if passed == all {
				return fmt.Sprint(all)
			}
			return fmt.Sprintf("%d of %d", passed, all)
		})
	}
	for _, fault := range faults {
		fmt.Fprintln(w, "FAILED", fault)
	}
	return failed
}
