package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sabir-go/sabir/brokers"
)

// tick is the unit of times in /proc/<pid>/stat, on all architectures of Linux (proc(5), USER_HZ).
const tick = 10 * time.Millisecond

// brokerUsage is the processor time of a broker's process group since it started, as /proc says; zero without a broker and
// where there is no /proc.
func brokerUsage(broker *brokers.Server) (usage, error) {
	if broker == nil {
		return usage{}, nil
	}
	group := []byte(strconv.Itoa(broker.PID()))
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return usage{}, err
	}
	var total usage
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may have spaces; state, parent and group come next.
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		if len(fields) < 13 || !bytes.Equal(fields[2], group) {
			continue
		}
		for _, field := range fields[11:13] { // user and system time
			ticks, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil {
				return usage{}, fmt.Errorf("%s: %w", file, err)
			}
			total.CPU += time.Duration(ticks) * tick
		}
	}
	return total, nil
}
