package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// What the system knows of processes and cores, from Linux's /proc. Elsewhere there are no such figures, and their columns
// have a dash.

// tick is the unit of CPU time in /proc: USER_HZ is 100 on all architectures that Go runs on.
const tick = 10 * time.Millisecond

// Pinned says whether processes can have a core of their own.
func Pinned() bool {
	_, err := exec.LookPath("taskset")
	return err == nil && runtime.GOOS == "linux" && runtime.NumCPU() >= 2
}

// cpu is the CPU time of a process with its threads and the children that it waited for, or of its whole group.
func (p *Process) cpu() (time.Duration, error) {
	if !p.group {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
		if err != nil {
			return 0, err
		}
		_, cpu, err := parseStat(string(text))
		return cpu, err
	}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	var total time.Duration
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		if group, cpu, err := parseStat(string(text)); err == nil && group == p.PID() {
			total += cpu
		}
	}
	return total, nil
}

// parseStat reads /proc/PID/stat; see proc(5).
func parseStat(text string) (group int, cpu time.Duration, err error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name may have spaces and brackets
	const pgrp, user, reaped = 2, 11, 14                                // utime, stime, cutime, cstime
	if len(fields) <= reaped {
		return 0, 0, errors.New("/proc/PID/stat has another form")
	}
	if group, err = strconv.Atoi(fields[pgrp]); err != nil {
		return 0, 0, err
	}
	for _, field := range fields[user : reaped+1] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, 0, err
		}
		cpu += time.Duration(ticks) * tick
	}
	return group, cpu, nil
}

// peakOf is the greatest resident memory of a process so far, in bytes.
func peakOf(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "VmHWM" {
			continue
		}
		kilobytes, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
		return kilobytes * 1024, err
	}
	return 0, fmt.Errorf("/proc/%d/status has no VmHWM", pid)
}

// forgetPeak lets the peak begin again. Where the system does not allow it, the peak is that of all rounds so far.
func forgetPeak(pid int) { os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) }

// busyOf returns the CPU time of all processes of the machine, with the time that the host took from it, without interrupts.
func busyOf() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseBusy(string(text))
}

func parseBusy(text string) (time.Duration, error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		const user, nice, system, steal = 1, 2, 3, 8
		if len(fields) <= steal || fields[0] != "cpu" {
			continue
		}
		var ticks int64
		for _, i := range []int{user, nice, system, steal} {
			n, err := strconv.ParseInt(fields[i], 10, 64)
			if err != nil {
				return 0, err
			}
			ticks += n
		}
		return time.Duration(ticks) * tick, nil
	}
	return 0, errors.New("/proc/stat has no line of all cores")
}
