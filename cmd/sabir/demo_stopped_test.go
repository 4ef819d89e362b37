//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
)

func TestANodeThatHangsIsListedAsSilent(t *testing.T) {
	brokers.Long(t)
	d := startProcesses(t, "--nodes", "2")
	defer d.end()
	hung, err := os.FindProcess(d.nodes["2"].PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := brokers.Suspend(hung); err != nil {
		t.Fatal(err)
	}
	got := sabirRun(t, "nodes", "--join", d.join, "--timeout", "5s")
	if err := hung.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got.code != exitOK || !strings.Contains(got.out, d.nodes["2"].ID+"  "+stateSilent) || !strings.Contains(got.out, d.nodes["1"].ID+"  running") {
		t.Errorf("%+v", got)
	}
	if code := d.stop(); code != exitOK {
		t.Errorf("exit code %d: %s", code, d.log)
	}
}
