package bench

import (
	"runtime"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// usage is the CPU time that processes and the machine have used up to a moment.
type usage struct {
	at     time.Time
	own    time.Duration // of this process and of all rows'
	busy   time.Duration // of all processes of the machine; 0 where it is not known
	single map[*Process]time.Duration
}

func usageOf(all []*entry) usage {
	u := usage{at: time.Now(), single: map[*Process]time.Duration{}}
	for _, e := range all {
		if e.runner == nil {
			continue
		}
		for _, p := range e.runner.Processes() {
			if _, read := u.single[p]; read {
				continue // several rows have it
			}
			cpu, err := p.cpu()
			if err != nil {
				continue // no such system, or it has just ended: Measure says so
			}
			u.single[p] = cpu
			u.own += cpu
		}
	}
	self, err := child.CPU()
	if err == nil {
		u.own += self + reapedCPU()
	}
	if u.busy, err = busyOf(); err != nil {
		u.busy = 0
	}
	return u
}

// clockError is the error that the system's figures of CPU time may have: the ticks of some processes at both ends.
const clockError = 3 * tick

// foreign is the share of the machine that others took between two moments, percent.
func foreign(before, after usage) float64 {
	all := after.at.Sub(before.at) * time.Duration(runtime.NumCPU())
	if all <= 0 || after.busy == 0 {
		return 0
	}
	others := (after.busy - before.busy) - (after.own - before.own) - clockError
	return max(0, float64(others)/float64(all)*100)
}

func addUsage(figures map[string]float64, e *entry, s child.Sample, before, after usage) {
	processes := e.runner.Processes()
	measuring := -1
	if s.CPU > 0 && len(processes) > 0 {
		measuring = len(processes) - 1
		for i, p := range processes { // the last that is not somebody else's
			if !p.group {
				measuring = i
			}
		}
	}
	cpu, memory := map[string]time.Duration{}, map[string]float64{}
	for i, p := range processes {
		used := after.single[p] - before.single[p]
		if i == measuring {
			used = s.CPU
		}
		if used > 0 {
			cpu[p.Role] += used
		}
		if peak, err := peakOf(p.PID()); err == nil {
			memory[p.Role] += peak
		}
	}
	if len(processes) == 0 && s.CPU > 0 {
		cpu["client"] = s.CPU
	}
	for role, used := range cpu {
		figures["cpu"] += float64(used) / float64(s.Operations)
		figures["cpu:"+role] = float64(used) / float64(s.Operations)
		figures["cores:"+role] = float64(used) / float64(after.at.Sub(before.at)) * 100
	}
	for role, peak := range memory {
		figures["memory"] += peak
		figures["memory:"+role] = peak
	}
}
