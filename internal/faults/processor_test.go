//go:build unix

package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
)

// processorTimes are how long the threads of a process ran, and how long they were ready to run and waited for a processor, in
// nanoseconds. Both are 0 where the system does not tell; Linux does (Documentation/scheduler/sched-stats.rst).
type processorTimes struct{ ran, waited float64 }

func (p *process) processorTimes() (sum processorTimes) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	for _, task := range tasks {
		line, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		var t processorTimes
		if _, err := fmt.Sscan(string(line), &t.ran, &t.waited); err == nil {
			sum.ran, sum.waited = sum.ran+t.ran, sum.waited+t.waited
		}
	}
	return sum
}

// shareSince is the part of the time since then in which a thread that was ready to run did run: a process that other processes leave half
// of a processor can do half.
func (p *process) shareSince(before processorTimes) float64 {
	now := p.processorTimes()
	ran, waited := now.ran-before.ran, now.waited-before.waited
	if ran <= 0 {
		return 1
	}
	return ran / (ran + waited)
}
