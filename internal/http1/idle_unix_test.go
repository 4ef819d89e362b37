//go:build unix

package http1

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/web/exchange"
)

func TestTenThousandIdleConnectionsAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 10,000 connections from another process")
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < crowdSize+100 {
		t.Skipf("the system allows only %d open files", limit.Cur)
	}
	s, addr := serve(t, &handler{serve: func(x *exchange.Exchange) { x.Out = append(x.Out, deep(32)) }})
	before := inUse()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), crowdVariable+"="+addr)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Wait()
	defer in.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	eventually(t, "all are idle", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, c := range s.conns {
			if phaseOf(c.state.Load()) != idle {
				return false
			}
		}
		return len(s.conns) == crowdSize
	})
	each := (inUse() - before) / crowdSize
	t.Logf("an idle connection takes %d bytes of heap and stack", each)
	if each > 12<<10 { // with the buffers it would be more; the race detector takes some
		t.Errorf("an idle connection takes %d bytes", each)
	}
}

// deep uses some of the stack, as handlers do.
//
//go:noinline
func deep(n int) byte {
	var room [128]byte
	if n > 0 {
		room[n] = deep(n - 1)
	}
	return room[n] + '0'
}

// inUse returns the bytes in use by the heap and the stacks.
func inUse() uint64 {
	for range 3 { // a stack shrinks to the half with each
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
