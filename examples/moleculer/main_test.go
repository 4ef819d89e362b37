package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
)

// The namespace is of this run only, since UDP reaches other tests on this machine.
func TestTheTwoCommandsAreOneShop(t *testing.T) {
	brokers.Long(t)
	dir := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(dir, "orders"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	nodejs := filepath.Join(dir, "nodejs")
	brokers.NodeModules(t, "nodejs", nodejs)
	namespace := "shop" + strconv.Itoa(os.Getpid())
	brokers.Run(t, exec.Command(filepath.Join(dir, "orders"), "-namespace", namespace))
	shop := exec.Command(brokers.Program(t, "node", "nodejs"), "shop.js", namespace)
	shop.Dir = nodejs
	lines := brokers.Run(t, shop)
	var got []string
	for range 4 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		got = append(got, strings.TrimSpace(line))
	}
	slices.Sort(got) // an event and an answer come in any order
	want := []string{"3 of tea, 7 left", "409 OUT_OF_STOCK: not enough tea", `heard: orders.placed {"article":"tea","amount":3}`, "started"}
	if !slices.Equal(got, want) {
		t.Errorf("the shop says %q", got)
	}
}
