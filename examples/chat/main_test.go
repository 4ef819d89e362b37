package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/brokers"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// asMain makes the test's program the chat: the members killed are processes of the operating system.
const asMain = "CHAT_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(brokers.Stopping(m))
}

// participant is a chat participant: the test writes its input and reads its lines.
type participant struct {
	in    io.Writer
	lines chan string
}

func (g participant) say(t *testing.T, text string) {
	t.Helper()
	if _, err := fmt.Fprintln(g.in, text); err != nil {
		t.Fatal(err)
	}
}

// sees waits for a line.
func (g participant) sees(t *testing.T, want string) {
	t.Helper()
	for limit := time.After(2 * time.Minute); ; {
		select {
		case line := <-g.lines:
			if line == want {
				return
			}
			t.Errorf("%q came, not %q", line, want)
		case <-limit:
			t.Fatalf("%q did not come", want)
		}
	}
}

func readLines(from io.Reader) chan string {
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(from); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// enter runs a chat in this process; leave ends it.
func enter(t *testing.T, address, name string) (g participant, leave func()) {
	t.Helper()
	in, typing := io.Pipe()
	shown, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- chat(context.Background(), address, name, in, out)
		out.Close()
	}()
	left := false
	leave = func() {
		if left {
			return
		}
		left = true
		typing.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(leave)
	return participant{typing, readLines(shown)}, leave
}

func TestTwoChatOverTwoNodes(t *testing.T) {
	ada, _ := enter(t, "mem://chat", "ada")
	bob, leave := enter(t, "mem://chat", "bob")
	ada.sees(t, "* bob is here")
	bob.sees(t, "* ada is here")
	for i := range 10 {
		ada.say(t, fmt.Sprint("line ", i))
	}
	for i := range 10 {
		bob.sees(t, fmt.Sprint("ada: line ", i))
	}
	bob.say(t, "well, well\x1b[2J")
	ada.sees(t, "bob: well, well[2J")
	ada.say(t, "/who")
	ada.sees(t, "here: you, bob")
	leave()
	ada.sees(t, "* bob has left")
	ada.say(t, "/who")
	ada.sees(t, "here: you")
}

func TestAKilledTerminalIsNoticed(t *testing.T) {
	free, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	address := "tcp://" + free
	ada, _ := enter(t, address, "ada")
	ada.say(t, "/who") // so that she is there first
	ada.sees(t, "here: you")

	command := exec.Command(os.Args[0], "-join", address, "-name", "bob")
	command.Env = append(os.Environ(), asMain+"=1")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Process.Kill()
	bob := participant{in, readLines(out)}
	ada.sees(t, "* bob is here")
	bob.sees(t, "* ada is here")
	bob.say(t, "hello")
	ada.sees(t, "bob: hello")
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // it was killed
	ada.sees(t, "* bob has left")
}
