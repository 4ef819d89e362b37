package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
)

// The names are of this run only, since mDNS reaches other machines and tests too.
func TestTheTwoCommandsCallEachOther(t *testing.T) {
	brokers.Long(t)
	dir := t.TempDir()
	here, there := filepath.Join(dir, "sabir"), filepath.Join(dir, "gomicro")
	download := exec.Command("go", "mod", "download")
	download.Dir = "gomicro"
	if out, err := download.CombinedOutput(); err != nil {
		brokers.NotTested(t, "the modules of go-micro cannot be had; is the network there? %v\n%s", err, out)
	}
	for program, source := range map[string]string{here: ".", there: "gomicro"} {
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, ".")
		build.Dir = source
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	id := strconv.Itoa(os.Getpid())
	names := []string{"-shop=shop" + id, "-greeter=greeting" + id}
	brokers.Run(t, exec.Command(here, names...))
	lines := brokers.Run(t, exec.Command(there, append(names, "-endpoint=Shop"+id+".Place")...))
	if line, err := lines.ReadString('\n'); err != nil || strings.TrimSpace(line) != "Hello, Ada! Your order: tea." {
		t.Errorf("go-micro's client got %q, %v", line, err)
	}
	if line, err := lines.ReadString('\n'); err != nil || strings.TrimSpace(line) != "an event: an order of tea" {
		t.Errorf("go-micro's subscriber got %q, %v", line, err)
	}
}
