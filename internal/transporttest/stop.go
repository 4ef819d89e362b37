//go:build unix

package transporttest

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/transport"
)

// stoppedEnv is set in the process that OutlivesAStop stops.
const stoppedEnv = "SABIR_TEST_STOPPED"

// OutlivesAStop checks that a connection outlives a stop of its process that is longer than the time after which a silent peer
// counts as gone: virtual machines are stopped while they are moved. It runs the calling test, which must do nothing else, a second
// time in a process of its own, with both ends of the connection in it.
func OutlivesAStop(t *testing.T, address string) {
	const keepAlive, stop = 500 * time.Millisecond, 2 * time.Second
	if os.Getenv(stoppedEnv) != "" {
		standStill(t, address, transport.Config{KeepAlive: keepAlive})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), stoppedEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	said := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			rest, _ := io.ReadAll(out)
			t.Fatalf("the process says %q instead of %q, and %s", lines.Text(), want, rest)
		}
	}
	said("open")
	must(t, cmd.Process.Signal(syscall.SIGSTOP))
	<-time.After(stop) // so long it stands still
	must(t, cmd.Process.Signal(syscall.SIGCONT))
	_, err = io.WriteString(in, "\n")
	must(t, err)
	said("open still")
}

// standStill is the process that is stopped.
func standStill(t *testing.T, address string, config transport.Config) {
	at, err := url.Parse(address)
	must(t, err)
	l, err := transport.Listen(t.Context(), at.String(), config)
	must(t, err)
	defer l.Close()
	accepted := make(chan io.ReadWriteCloser, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			accepted <- c
		}
		close(accepted)
	}()
	client, err := transport.Dial(t.Context(), l.Addr(), config)
	must(t, err)
	defer client.Close()
	server := <-accepted
	if server == nil {
		t.Fatal("the connection was not accepted")
	}
	defer server.Close()
	exchange := func() {
		for _, way := range [][2]io.ReadWriter{{client, server}, {server, client}} {
			_, err := way[0].Write([]byte("x"))
			must(t, err)
			_, err = io.ReadFull(way[1], make([]byte, 1))
			must(t, err)
		}
	}
	exchange()
	fmt.Println("open")
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	must(t, err)
	exchange()
	fmt.Println("open still")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
