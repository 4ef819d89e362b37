package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/brokers"
)

// The test program starts itself as the children too.
func TestMain(m *testing.M) {
	if childMain() {
		return
	}
	os.Exit(brokers.Stopping(m).Run())
}

func TestQuickRunMeasuresInTwoProcesses(t *testing.T) {
	for name, flags := range map[string][]string{
		"calls":   nil,
		"echo":    {"-message", "64KiB", "-callers", "1", "-only", "net/rpc,raw copy"},
		"streams": {"-streams", "-callers", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := run(t.Context(), append([]string{"-quick", "-json"}, flags...), &out, io.Discard); err != nil {
				t.Fatal(err)
			}
			var doc document
			if err := json.Unmarshal([]byte(out.String()), &doc); err != nil {
				t.Fatal(err)
			}
			if len(doc.Contenders) == 0 {
				t.Fatal("no contender was measured")
			}
			for _, f := range doc.Contenders {
				if f.Errors != 0 || f.PerSecond.Median <= 0 || f.CPU.Median <= 0 || doc.Mode != streamMode && f.P50.Median <= 0 {
					t.Errorf("%s, %d callers: %+v", f.Contender, f.Callers, f)
				}
			}
		})
	}
}

func TestTablesShowEveryContender(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-quick", "-callers", "2", "-only", "net/rpc,raw TCP"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"net/rpc", "net/rpc, unix", "raw TCP echo", "2 callers", "p99.9", "Missing", "limits"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestAnInterruptedRunReportsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	if err := run(ctx, []string{"-quick", "-json"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := json.Unmarshal([]byte(out.String()), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Contenders[0].Errors != 1 || len(doc.Contenders[0].Problems) != 1 {
		t.Errorf("the run that was cut short: %+v", doc.Contenders[0])
	}
}

func TestAChildThatCannotStartSaysWhy(t *testing.T) {
	_, err := runOnce(t.Context(), contender{name: "nobody", network: "tcp"}, load{})
	if err == nil || !strings.Contains(err.Error(), `no contender is called "nobody"`) {
		t.Errorf("got %v", err)
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown contender": {"-only", "nothing of the kind"},
		"no runs":           {"-runs", "0"},
		"too short":         {"-duration", "1ms"},
		"no callers":        {"-callers", "0"},
		"not a number":      {"-callers", "1,x"},
		"size of nothing":   {"-message", "MiB"},
		"size too large":    {"-message", "33MiB"},
		"size too small":    {"-message", "7"},
		"size overflows":    {"-message", "9999999999999MiB"},
		"argument":          {"sabir"},
		"unknown carrier":   {"-carriers=quic,pigeons"},
		"no row":            {"-carriers=quic", "-only", "kitex"},
		"carriers' message": {"-carriers", "-message", "1MiB"},
	} {
		if _, err := planOf(args, io.Discard); err == nil {
			t.Errorf("%s: %v was accepted", name, args)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int{"1000": 1000, "64KiB": 64 << 10, "1MiB": 1 << 20, "32MiB": maxBlob} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestContendersHaveNamesOfTheirOwn(t *testing.T) {
	var seen []string
	for _, c := range slices.Concat(contenders(), distinct(carried())) {
		if slices.Contains(seen, c.name) {
			t.Errorf("two are called %s", c.name)
		}
		seen = append(seen, c.name)
		if c.codec == "" || c.settings == "" || len(c.modes) == 0 {
			t.Errorf("%s does not say its codec, settings and modes", c.name)
		}
	}
}
