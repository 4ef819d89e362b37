// Package worktest has the tests of the programs that make calls.
package worktest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/rpc/work"
	"github.com/sabir-go/sabir/lab/seeds/gomicro"
)

// Main is TestMain. It does not look for goroutines that are left: some of the peers leave theirs.
func Main(m *testing.M) {
	code := m.Run()
	brokers.StopShared()
	os.Exit(code)
}

// All has each contender of a program do each work that it can, with server and client in the test itself.
func All(t *testing.T, program string, contenders []work.Contender) {
	listed := slices.DeleteFunc(gomicro.Contenders(), func(c gomicro.Contender) bool { return c.Program != program })
	for _, c := range contenders {
		if !slices.ContainsFunc(listed, func(l gomicro.Contender) bool { return l.Name == c.Name }) {
			t.Errorf("%s is in no table", c.Name)
		}
	}
	for _, l := range listed {
		t.Run(l.Name, func(t *testing.T) {
			at := slices.IndexFunc(contenders, func(c work.Contender) bool { return c.Name == l.Name })
			if at < 0 {
				t.Fatal("the program does not know it")
			}
			one(t, l, contenders[at])
		})
	}
}

func one(t *testing.T, l gomicro.Contender, c work.Contender) {
	address := addressOf(t, l)
	stop, err := c.Serve(address)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	o := child.Order{Role: work.Caller, Row: c.Name, Address: address, Callers: 5, Size: 100_000}
	for _, o.Work = range worksOf(t, c, o) {
		t.Run(o.Work, func(t *testing.T) { measured(t, c, o) })
	}
}

// worksOf returns the works that the contender can do.
func worksOf(t *testing.T, c work.Contender, o child.Order) []string {
	dialed, err := c.Dial(o.Address, o.Callers)
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	var all []string
	for name, can := range map[string]bool{work.Call: dialed.Say != nil, work.Echo: dialed.Echo != nil, work.Mixed: dialed.Echo != nil && !dialed.Fixed, work.Stream: dialed.Push != nil,
		work.Batch: dialed.Batch != nil} {
		if can {
			all = append(all, name)
		}
	}
	if len(all) == 0 {
		t.Fatal("it can do nothing")
	}
	return all
}

func measured(t *testing.T, c work.Contender, o child.Order) {
	job, err := work.Start([]work.Contender{c}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Stop()
	for _, d := range []time.Duration{20 * time.Millisecond, 30 * time.Millisecond} { // warming up, and not
		s, err := job.Measure(d)
		if err != nil || s.Wrong != 0 || s.Operations == 0 {
			t.Fatalf("%d operations, %d wrong (%s): %v", s.Operations, s.Wrong, s.Problem, err)
		}
	}
}

func addressOf(t *testing.T, l gomicro.Contender) string {
	switch {
	case l.Broker != "":
		return brokers.ForTestShared(t, l.Broker).URL()
	case l.Network == "":
		return ""
	case l.Network == "unix":
		return filepath.Join(t.TempDir(), "s")
	}
	address, err := brokers.FreeAddress(l.Network)
	if err != nil {
		t.Fatal(err)
	}
	return address
}
