package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The program starts itself as its children, and in a test that is the test's program.
func TestMain(m *testing.M) {
	if child, err := serveChild(); child {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestDocumentsHaveTheLengthsOfMoleculersBenchmark(t *testing.T) {
	want := map[string]int{"packet 10": 10, "packet 150": 150, "packet 1k": 1052, "packet 10k": 10449, "packet 50k": 50522,
		"packet 100k": 101021, "packet 1M": 1010003}
	for _, s := range specs {
		if s.table != "packets" {
			continue
		}
		g, err := s.make(s.title)
		if err != nil {
			t.Fatal(err)
		}
		if g.Bytes != want[s.title] {
			t.Errorf("%s: the document has %d bytes of JSON, want %d", s.title, g.Bytes, want[s.title])
		}
	}
}

// The children take part where their tools are; the first run installs their packages.
func TestSmokeRunMeasuresEveryContenderOfEveryTable(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-quick", "-values", "150,10k,complex"}, &out, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	tables := strings.Split(out.String(), " bytes of JSON\n")[1:]
	for i, want := range []func() ([]*row, error){
		func() ([]*row, error) { return packetRows(requestDocument()) },
		func() ([]*row, error) { return packetRows(pageDocument(10449)) },
		func() ([]*row, error) { return valueRows(newComplexObject()) },
	} {
		rows, err := want()
		if err != nil {
			t.Fatal(err)
		}
		peers := moleculerPeers
		if i == 2 {
			peers = hessianPeers
		}
		for _, one := range peers {
			tool := map[string]string{"node": "npm", "java": "mvn"}[one.language]
			if _, err := exec.LookPath(tool); err == nil {
				rows = append(rows, &row{Name: one.name})
			}
		}
		for _, r := range rows {
			if !strings.Contains(tables[i], r.Name) {
				t.Errorf("%s is not in table %d:\n%s", r.Name, i, tables[i])
			}
		}
	}
}

// lying is a runner that decodes one answer, whatever it is given.
type lying struct {
	*local
	says string
}

func (l lying) answer([]byte) ([]byte, error) { return []byte(l.says), nil }

func TestAWrongAnswerIsFound(t *testing.T) {
	rows := []*row{{Name: "honest", wire: "JSON", runner: ofEncodingJSON("echo")}, {Name: "lying", wire: "JSON", runner: lying{ofEncodingJSON("echo"), `"no"`}}}
	for _, r := range rows {
		if err := r.prepare(); err != nil {
			t.Fatal(err)
		}
	}
	err := check(rows, []byte(`"echo"`))
	want := "lying reads what honest wrote: got \"no\"\nlying reads what lying wrote: got \"no\""
	if fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestRatiosAreAgainstTheFastestPeerAndMarkedBelowOne(t *testing.T) {
	took := func(nanos float64) map[direction]*measured {
		m := map[direction]*measured{encoding: {}, decoding: {}}
		m[encoding].add(nanos)
		m[decoding].add(2 * nanos)
		return m
	}
	g := &group{Title: "packet 10", Bytes: 10, Rows: []*row{
		{Name: "slow", Format: "JSON", CPU: took(300)}, {Name: "fast", Format: "JSON", CPU: took(200)}, {Name: "other", Format: "CBOR", CPU: took(50)},
		{Name: "json", Format: "JSON", Ours: true, CPU: took(100)},
	}}
	var out strings.Builder
	r := report{out: &out}
	if err := r.group(g); err != nil {
		t.Fatal(err)
	}
	if err := r.end(nil); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Sabir json") })
	if got, want := strings.Join(strings.Fields(lines[at]), " "), "Sabir json JSON 0 10 000 000 0 2.00 0.50! 5 000 000 0 2.00 0.50!"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !strings.Contains(out.String(), "encode  0.50 of the fastest peer of any, other") {
		t.Errorf("the list of what is slower lacks it:\n%s", &out)
	}
}

func TestFlagsThatAskForNothingAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-values", "11"}, {"-table", "streams"}, {"-languages", "perl"}, {"-rounds", "0"}, {"10"}} {
		if err := run(t.Context(), args, new(strings.Builder), new(strings.Builder)); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
