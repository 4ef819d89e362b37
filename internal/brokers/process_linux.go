package brokers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitStopped looks again and again until each thread of the process stands still, since only a parent can wait for that.
func awaitStopped(pid int) error {
	threads := filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat")
	for ; ; time.Sleep(time.Millisecond) {
		files, err := filepath.Glob(threads)
		if err != nil || len(files) == 0 {
			return fmt.Errorf("process %d ended instead of standing still", pid)
		}
		running := false
		for _, file := range files {
			stat, err := os.ReadFile(file)
			if err != nil {
				continue // the thread has ended
			}
			// proc_pid_stat(5): the state follows the name, which is in parentheses and may hold any byte.
			state := bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])
			running = running || len(state) == 0 || state[0] != 'T'
		}
		if !running {
			return nil
		}
	}
}
