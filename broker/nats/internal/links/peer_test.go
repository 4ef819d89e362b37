package links_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// startPeer runs the test binary as a process with an embedded server and returns its address. kill ends it with SIGKILL.
func startPeer(t *testing.T, address, name string) (addr string, kill func()) {
	t.Helper()
	command := launchPeer(t, address, name)
	return command.addr, command.kill
}

type peerProcess struct {
	*exec.Cmd
	output *bufio.Reader
	addr   string
}

func (p *peerProcess) kill() {
	p.Process.Kill()
	p.Wait()
}

// await returns when the peer has reported its address.
func (p *peerProcess) await(t *testing.T) {
	t.Helper()
	line, err := p.output.ReadString('\n')
	if err != nil {
		t.Fatalf("the peer did not say where it is: %v", err)
	}
	p.addr = strings.TrimSpace(line)
}

func launchPeer(t *testing.T, address, name string) *peerProcess {
	t.Helper()
	p := beginPeer(t, address, name)
	p.await(t)
	return p
}

func beginPeer(t *testing.T, address, name string) *peerProcess {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), asPeer+"="+address, asPeer+"_NAME="+name)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &peerProcess{Cmd: command, output: bufio.NewReader(output)}
	t.Cleanup(p.kill)
	return p
}
