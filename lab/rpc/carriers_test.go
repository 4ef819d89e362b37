package main

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/brokers"
)

func TestCarriersAreMeasuredInTwoProcessesAndABroker(t *testing.T) {
	brokers.ForTestShared(t, brokers.Redis) // skips where there is none
	var out strings.Builder
	if err := run(t.Context(), []string{"-carriers=redis", "-quick", "-json", "-only", "sabir,raw"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var doc carriersDocument
	if err := json.Unmarshal([]byte(out.String()), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Rows) != 4 {
		t.Fatalf("%d rows, want Sabir's 3 and the raw echo", len(doc.Rows))
	}
	for _, f := range doc.Rows {
		if f.Errors != 0 || f.PerSecond.Median <= 0 || f.CPU.Median <= 0 || f.P50.Median <= 0 {
			t.Errorf("%+v", f)
		}
	}
	limit := doc.Rows[3]
	if !limit.Limit || limit.Than != "sabir redis" || limit.Ratio != doc.Rows[0].PerSecond.Median/limit.PerSecond.Median || limit.Want != rawWant {
		t.Errorf("the limit is compared wrongly: %+v", limit)
	}
}

func TestCarrierTablesShowEveryRowAndTheSummary(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-carriers=quic", "-quick", "-callers", "30"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"quic, 30 callers", "sabir quic, protobuf", "quic-go, stream per call", "quic-go, kept streams", "raw batched echo, quic", "Sabir against all"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestWhatIsNotInstalledIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	p, err := planOf([]string{"-carriers=tcp", "-quick", "-only", "moleculer"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	missing, err := p.measureCarriers(t.Context(), &said, func(carrierGroups) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(missing) != 1 || !strings.Contains(missing[0], "node was not found") || !strings.Contains(said.String(), "! NOT MEASURED: Moleculer and cote") {
		t.Errorf("missing %q, said %q", missing, said.String())
	}
}

func TestRatiosAreOfTheSameMessage(t *testing.T) {
	made := func(perSecond int64) group {
		return group{outcomes: []outcome{{Calls: perSecond, Elapsed: time.Second}}}
	}
	named := func(name, codec string, perSecond int64) group {
		g := made(perSecond)
		g.contender = contender{name: name, codec: codec}
		return g
	}
	c := carrierGroups{
		carrier: carrier{rows: []row{{mode: callMode, ours: true}, {mode: callMode, ours: true}, {mode: echoMode, ours: true},
			{mode: callMode, want: 2}, {mode: echoMode, want: 4}, {mode: batchMode, want: 0.5}}},
		groups: []group{named("native", "native", 1000), named("proto", "protobuf", 600), named("native", "native", 3000),
			named("peer", "protobuf", 400), named("small peer", "JSON", 1000), named("raw", "none", 4000)},
	}
	rows := c.figures()
	for _, want := range []struct {
		row         int
		ratio, same float64
		verdict     string
	}{{0, 0, 0, ""}, {3, 2.5, 1.5, "met"}, {4, 3, 0, "BELOW"}, {5, 0.25, 0, "BELOW"}} {
		got := rows[want.row]
		if got.Ratio != want.ratio || got.SameCodec != want.same || got.verdict() != want.verdict {
			t.Errorf("row %d: %v %v %q, want %+v", want.row, got.Ratio, got.SameCodec, got.verdict(), want)
		}
	}
}

func TestEveryCarrierHasSabirAndItsLimit(t *testing.T) {
	for _, c := range carriers() {
		if !slices.ContainsFunc(c.rows, func(r row) bool { return r.ours && r.mode == callMode && r.codec == "native" }) {
			t.Errorf("%s has no row of Sabir", c.name)
		}
		if last := c.rows[len(c.rows)-1]; !last.limit || last.mode != batchMode {
			t.Errorf("%s ends with %s, not with the raw batched echo", c.name, last.name)
		}
		for _, r := range c.rows {
			if r.broker != c.broker {
				t.Errorf("%s: %s wants the broker %q, the carrier has %q", c.name, r.name, r.broker, c.broker)
			}
			if !slices.Contains(r.modes, r.mode) {
				t.Errorf("%s: %s does not have the mode %s", c.name, r.name, r.mode)
			}
		}
	}
}

func TestTheBrokersProcessorTimeIsCounted(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		brokers.NotTested(t, "the broker's processor time: there is no /proc here")
	}
	p, err := planOf([]string{"-carriers=nats", "-quick", "-only", "raw"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var during usage
	_, err = p.measureCarriers(t.Context(), io.Discard, func(c carrierGroups) error {
		if len(c.groups[0].outcomes) == 1 {
			during = c.groups[0].outcomes[0].Broker
		}
		return nil
	})
	if err != nil || during.CPU == 0 {
		t.Errorf("the broker used %v: %v", during.CPU, err)
	}
	if used, err := brokerUsage(nil); err != nil || used.CPU != 0 {
		t.Errorf("no broker used %v, %v", used.CPU, err)
	}
}
