package conformance

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// journal keeps the last lines that the nodes of a cluster logged, for the output of a behaviour that failed: links that were lost
// say why there only. Nodes log on after their test has ended, so it cannot be the test's own output.
type journal struct {
	mu    sync.Mutex
	lines []string
	cut   int // lines that are not kept
}

const (
	journalLines = 60
	journalWidth = 400 // bytes of a line: stacks are cut
)

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.lines) == journalLines {
		j.lines = j.lines[1:]
		j.cut++
	}
	kept := string(line[:min(journalWidth, len(line))])
	j.lines = append(j.lines, strings.TrimSuffix(kept, "\n"))
	return len(line), nil
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return fmt.Sprintf("the nodes logged, after %d lines:\n%s", j.cut, strings.Join(j.lines, "\n"))
}
