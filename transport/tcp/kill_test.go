package tcp_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/tcp"
)

func TestAReadEndsAtOnceWhenThePeersProcessIsKilled(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	certificates, err := tcp.Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		address string
		config  transport.Config
	}{
		{"tcp://:0", transport.Config{}},
		{unixAddress(t), transport.Config{}},
		{"tls://:0", transport.Config{TLS: certificates}},
	} {
		scheme, _, _ := strings.Cut(test.address, ":")
		t.Run(scheme, func(t *testing.T) {
			environment := []string{asPeer + "=" + test.address}
			if test.config.TLS != nil {
				environment = append(environment, asPeer+"_CERT="+files.Cert, asPeer+"_KEY="+files.Key, asPeer+"_CA="+files.CA)
			}
			address, kill := startPeer(t, environment)
			conn, err := transport.Dial(t.Context(), address, test.config)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(time.Minute))
			buffer := make([]byte, 1)
			if _, err := conn.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(buffer); err != nil {
				t.Fatal(err)
			}

			ended := make(chan error, 1)
			go func() {
				_, err := conn.Read(buffer)
				ended <- err
			}()
			kill()
			killed := time.Now()
			err = <-ended
			if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("the read gave %v, want an error that tells of the peer", err)
			}
			if took := time.Since(killed); took > 10*time.Second { // to ask a silent peer's machine takes longer
				t.Errorf("the read ended %v after the kill", took)
			}
		})
	}
}

func TestAKilledListenersUnixSocketIsTakenOver(t *testing.T) {
	at := unixAddress(t)
	_, kill := startPeer(t, []string{asPeer + "=" + at})
	kill()
	if _, err := os.Stat(strings.TrimPrefix(at, "unix://")); err != nil {
		t.Fatalf("the killed peer left no socket: %v", err)
	}
	c, err := transport.Dial(t.Context(), at, transport.Config{})
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("dialling the abandoned socket gave %v, want ECONNREFUSED", err)
	}
	l, err := transport.Listen(t.Context(), at, transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// startPeer runs the test binary as a peer. kill ends it with SIGKILL and returns when it is gone.
func startPeer(t *testing.T, environment []string) (address string, kill func()) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), environment...)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		command.Process.Kill()
		command.Wait()
	}
	t.Cleanup(kill)
	address, err = bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("the peer did not say where it listens: %v", err)
	}
	return strings.TrimSpace(address), kill
}
