package mion

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/http/ask"
)

// wrkText is the output of wrk after a second.
const wrkText = `    Latency     5.67ms  788.00us  16.21ms   95.61%
     99%    9.32ms
  17562 requests in 1.01s, 3.80MB read
`

// scripted is a wrk that asks for nothing: it runs a script and prints what wrk does.
func scripted(t *testing.T, script string) tool {
	t.Helper()
	file := filepath.Join(t.TempDir(), "wrk")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\ncat <<'END'\n"+wrkText+"END\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return tool{ask.Wrk, bench.Tool(file, "it is a script")}
}

// fakes are servers of this test program, each as wrong as its name says.
func fakes(t *testing.T, hows ...string) []contender {
	t.Helper()
	t.Setenv(fakeVariable, "1")
	var all []contender
	for _, how := range hows {
		all = append(all, contender{name: how, program: bench.Tool(os.Args[0], "it is this program", how)})
	}
	return all
}

// underTool are rows of contenders under a load.
func underTool(with tool, all ...contender) []bench.Row {
	var rows []bench.Row
	for _, c := range all {
		r := c.row("")
		if c.missing == "" {
			r.Needs = []*bench.Program{c.program, loader, with.program}
			r.Open = load{ask.UpdateUser, with, 10}.open(c)
		}
		rows = append(rows, r)
	}
	return rows
}

type quiet struct{ io.Writer }

func (quiet) Begin(int)           {}
func (quiet) Step(string)         {}
func (quiet) Skip(int)            {}
func (quiet) Note(string, ...any) {}

// measure runs a table of rows and gives their results by name.
func measure(t *testing.T, p bench.Plan, rows []bench.Row) map[string]bench.RowResult {
	t.Helper()
	results := p.Run(t.Context(), []bench.Seed{{Tables: []bench.Table{{Rows: rows}}}}, quiet{io.Discard}, func(*bench.Results) {})
	all := map[string]bench.RowResult{}
	for _, r := range results.Seeds[0].Tables[0].Rows {
		all[r.Name] = r
	}
	return all
}

var twoRounds = bench.Plan{Rounds: 2, Duration: time.Second, Warm: time.Millisecond, Timeout: time.Minute}

func TestAServerThatFailsIsOutWithItsReasonAndOthersGoOn(t *testing.T) {
	rows := measure(t, twoRounds, underTool(scripted(t, ""), fakes(t, fakeCrash, fakeWrong, fakeLenient, fakeMidCrash, fakeGood)...))
	for how, wants := range map[string]string{
		fakeCrash:    "the server ended (exit status 3). It said: no memory left",
		fakeWrong:    `want 200 and {"hello":"world"}`,
		fakeLenient:  "updateUser with broken JSON: status 200, want an error",
		fakeMidCrash: "round 1: the server ended (exit status 4). It said: out of hellos",
	} {
		if got := rows[how]; !strings.Contains(got.Failure, wants) || len(got.Rounds) > 0 {
			t.Errorf("%s: %q with %d rounds, want %q", how, got.Failure, len(got.Rounds), wants)
		}
	}
	good := rows[fakeGood]
	if good.Failure != "" || len(good.Rounds) != 2 {
		t.Fatalf("the good row: %q, %d rounds", good.Failure, len(good.Rounds))
	}
	for key, want := range map[string]float64{"mean": 5.67e6, "p99": 9.32e6, "output": 3.80 * (1 << 20) / 1.01} {
		if got := good.Rounds[0].Figures[key]; got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if good.Rounds[0].Figures["memory:server"] < 1e6 {
		t.Errorf("the server's memory is %v", good.Rounds[0].Figures["memory:server"])
	}
}

func TestAServerThatDoesNotListenFails(t *testing.T) {
	p := twoRounds
	p.Timeout = time.Second
	if got := measure(t, p, underTool(scripted(t, ""), fakes(t, fakeUnbound)...))[fakeUnbound].Failure; !strings.Contains(got, "not ready within 1s") {
		t.Errorf("got %q", got)
	}
}

func TestErrorsUnderLoadTakeARowOut(t *testing.T) {
	got := measure(t, twoRounds, underTool(scripted(t, `echo "Non-2xx or 3xx responses: 5"`), fakes(t, fakeGood)...))[fakeGood]
	if !strings.Contains(got.Failure, "5 answers with an error status") || len(got.Rounds) > 0 {
		t.Errorf("failure %q, %d rounds", got.Failure, len(got.Rounds))
	}
}

func TestWhatCannotBeHadIsTheRowsReason(t *testing.T) {
	rows := measure(t, twoRounds, underTool(scripted(t, ""), contender{name: "mion", missing: notOnTheRegistry},
		contender{name: "nobody", program: inGo("nobody")}))
	if got := rows["mion"].Failure; got != notOnTheRegistry {
		t.Errorf("mion: %q", got)
	}
	if got := rows["nobody"].Failure; !strings.Contains(got, "cannot be built") {
		t.Errorf("a server that is not there: %q", got)
	}
	lacks := tool{ask.Wrk, bench.Tool("no-such-wrk", "apt-get install wrk")}
	if got := measure(t, twoRounds, underTool(lacks, fakes(t, fakeGood)...))[fakeGood].Failure; !strings.Contains(got, "apt-get install wrk") {
		t.Errorf("without wrk: %q", got)
	}
}

// Every contender is started, checked and closed; the load is a script that asks for nothing.
func TestAllServersGiveTheRightAnswers(t *testing.T) {
	once := twoRounds
	once.Rounds = 1
	servers := map[string][]contender{}
	for _, c := range contenders {
		if c.missing != "" {
			continue
		}
		of := "Go"
		if strings.HasPrefix(c.program.Name, "node") {
			of = "Node"
		}
		servers[of] = append(servers[of], c)
	}
	for of, all := range servers {
		t.Run(of, func(t *testing.T) {
			if of == "Node" {
				brokers.Program(t, "npm", "npm")
			}
			for name, r := range measure(t, once, underTool(scripted(t, ""), all...)) {
				if r.Failure != "" || len(r.Rounds) != 1 {
					t.Errorf("%s: %q, %d rounds", name, r.Failure, len(r.Rounds))
				}
			}
		})
	}
}

func TestARealLoad(t *testing.T) {
	brokers.Program(t, "wrk", "wrk")
	once := twoRounds
	once.Rounds = 1
	r := measure(t, once, underTool(wrk, contenders[0]))[contenders[0].name]
	if r.Failure != "" || len(r.Rounds) != 1 {
		t.Fatalf("%q, %d rounds", r.Failure, len(r.Rounds))
	}
	for _, c := range requestColumns {
		if r.Rounds[0].Figures[c.Key] <= 0 {
			t.Errorf("%s is %v", c.Key, r.Rounds[0].Figures[c.Key])
		}
	}
}

func TestAStartAndIdleConnectionsAreMeasured(t *testing.T) {
	once := twoRounds
	once.Rounds = 1
	var rows []bench.Row
	for work, size := range map[string]int{ask.ColdStart: 1, ask.IdleConnections: 50} {
		r := contenders[0].row("")
		r.Name, r.Cold, r.Needs, r.Open = work, true, []*bench.Program{sabirServer, loader}, contenders[0].byLoader(work, size)
		rows = append(rows, r)
	}
	got := measure(t, once, rows)
	for work, keys := range map[string][]string{ask.ColdStart: {"start", "slowest"}, ask.IdleConnections: {"all", "before", "each"}} {
		if r := got[work]; r.Failure != "" || len(r.Rounds) != 1 {
			t.Errorf("%s: %q, %d rounds", work, r.Failure, len(r.Rounds))
			continue
		}
		for _, key := range keys {
			if _, ok := got[work].Rounds[0].Figures[key]; !ok {
				t.Errorf("%s has no figure %q", work, key)
			}
		}
	}
}

func TestEndedLoadsLeaveNothingBehind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	with := scripted(t, "")
	for _, p := range []*bench.Program{loader, with.program} {
		if err := p.Prepare(ctx, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	c := fakes(t, fakeGood)[0]
	if err := c.program.Prepare(ctx, io.Discard); err != nil {
		t.Fatal(err)
	}
	r, err := load{ask.Hello, with, 1}.open(c)(ctx, &bench.Env{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for _, p := range r.Processes() {
		<-p.Ended()
	}
	if _, err := r.Measure(t.Context(), time.Second); err == nil || !strings.Contains(fmt.Sprint(err), "the server ended") {
		t.Errorf("after the end: %v", err)
	}
	r.Close()
}
