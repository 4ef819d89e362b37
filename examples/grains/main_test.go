package main

import (
	"bufio"
	"bytes"
	"context"
	"log"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"
)

func Example() {
	s := settings{store: "mem://", user: "ada", visits: 3, every: time.Millisecond}
	if err := run(context.Background(), os.Stdout, s); err != nil {
		log.Fatal(err)
	}
	// Output:
	// visit 1 of ada
	// visit 2 of ada
	// visit 3 of ada
}

// With this variable in the environment, the test binary is the program.
const asProgram = "SABIR_EXAMPLE_GRAINS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestVisitsSurviveKill9(t *testing.T) {
	address := "nats://embedded:0?store=" + url.QueryEscape(t.TempDir())
	cmd := exec.Command(os.Args[0], "-store", address, "-every", "1h")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if killed := cmd.Process.Kill(); killed != nil {
		t.Error(killed)
	}
	_ = cmd.Wait() // killed is no success
	if err != nil || line != "visit 1 of ada\n" {
		t.Fatalf("before: %q, %v", line, err)
	}
	var after bytes.Buffer
	if err := run(t.Context(), &after, settings{store: address, user: "ada", visits: 2, every: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if want := "visit 2 of ada\nvisit 3 of ada\n"; after.String() != want {
		t.Fatalf("after: %q, want %q", after.String(), want)
	}
}
