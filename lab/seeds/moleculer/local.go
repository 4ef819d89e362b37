package moleculer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// The programs of what happens in one process.
var (
	inGo   = bench.Go("local")
	inNode = bench.Node("local", "child.js")
)

// How long one measurement of a table in one process takes.
const (
	localDuration = 300 * time.Millisecond
	localQuick    = 100 * time.Millisecond
)

// localColumns returns the columns of all tables in one process; operations is the word for operations in the first one.
func localColumns(operations string) []bench.Column {
	return []bench.Column{
		{Key: "rate", Title: operations + "/s", Unit: bench.PerSecond},
		{Key: "mean", Title: "mean", Unit: bench.Duration, Less: true},
		{Key: "cpu", Title: "CPU each", Unit: bench.Duration, Less: true},
		{Key: "memory", Title: "memory", Unit: bench.Bytes, Less: true},
	}
}

// job is the work of one group, for whoever does it.
type job struct {
	group  string
	work   string       // as the programs call it
	size   int          // what it counts, such as middlewares
	extra  any          // what it knows besides
	broker brokers.Kind // what it needs; "" for nothing
}

// row is the work done by a contender, which a program calls by key.
func (j job) row(name, key string, program *bench.Program) bench.Row {
	return bench.Row{Name: name, Group: j.group, Needs: []*bench.Program{program},
		Open: func(ctx context.Context, e *bench.Env) (bench.Runner, error) { return j.open(ctx, e, key, program) }}
}

func (j job) open(ctx context.Context, e *bench.Env, key string, program *bench.Program) (bench.Runner, error) {
	o := child.Order{Role: "process", Row: key, Work: j.work, Size: j.size}
	if j.extra != nil {
		text, err := json.Marshal(j.extra)
		if err != nil {
			return nil, fmt.Errorf("the order's extra: %w", err)
		}
		o.Extra = text
	}
	var more []*bench.Process
	if j.broker != "" {
		server, process, err := e.Broker(j.broker)
		if err != nil {
			return nil, err
		}
		o.Address, more = server.URL(), []*bench.Process{process}
	}
	runner, err := bench.Children(ctx, bench.Child(program, o, bench.Unpinned))
	if err != nil {
		return nil, err
	}
	return bench.With(runner, more...), nil
}

// moleculer is Moleculer's row, with what its report says.
func (j job) moleculer(published string) bench.Row {
	r := j.row("Moleculer", "moleculer", inNode)
	r.Module, r.Published = "moleculer", published
	return r
}

// sabir is Sabir's row, and the one that others are compared with.
func (j job) sabir(settings string) bench.Row { return j.variant("Sabir", "sabir", settings) }

// variant is another row of Sabir.
func (j job) variant(name, key, settings string) bench.Row {
	r := j.row(name, key, inGo)
	r.Ours, r.Settings = true, settings
	return r
}

// limit is the row of what is left without any framework.
func (j job) limit(name string) bench.Row {
	r := j.row(name, "plain", inGo)
	r.Limit = true
	return r
}

// aboutCalls is the text with which most tables describe their calls.
const aboutCalls = "One operation is a call of an action in the same process, one after another by one caller, awaited where the contender " +
	"gives a promise: the sum of two numbers, another pair each time, and every sum is checked."

const plainCall = "Plain function call"

func localTables() []bench.Table { return []bench.Table{localCall(), callParams()} }

func localCall() bench.Table {
	call := job{work: "call"}
	peer := func(name, key, module, published string, program *bench.Program) bench.Row {
		r := call.row(name, key, program)
		r.Module, r.Published = module, published
		return r
	}
	goMicro := peer("go-micro, memory", "go-micro", "github.com/micro/go-micro", "", inGo)
	goMicro.Settings = "its transport, registry and broker in memory; protobuf, its default"
	ergo := peer("Ergo, process to process", "ergo", "ergo.services/ergo", "", inGo)
	ergo.Settings = "no network; the caller is a process too, as Ergo wants it"
	return bench.Table{Name: "local-call", Title: "Call local actions",
		About: aboutCalls + " Moleculer, Nanoservices, Seneca and Sabir call on the caller's thread. go-micro encodes each call and hands it " +
			"to a server of the same process; Ergo, and the row of Sabir's processes, send it to another process (a goroutine with a " +
			"mailbox) and wait for the answer. These do more than a call. Sabir's bound call looks its action up once.",
		Columns: localColumns("calls"), Duration: localDuration, Quick: localQuick,
		Rows: []bench.Row{
			call.moleculer("1 713 579/s, 583 ns"),
			peer("Nanoservices", "nanoservices", "nanoservices", "90 510/s, 11 µs", inNode),
			peer("Seneca", "seneca", "seneca", "13 252/s, 75 µs", inNode),
			goMicro,
			ergo,
			call.sabir("by name"),
			call.variant("Sabir, bound", "sabir bound", "looked up once"),
			call.variant("Sabir, process to process", "sabir process", ""),
			call.limit(plainCall),
		}}
}

func callParams() bench.Table {
	normal := job{group: "without params", work: "empty"}
	params := job{group: "with params", work: "call"}
	return bench.Table{Name: "call-params", Title: "Call methods",
		About:   aboutCalls + " Without params the action takes nothing and answers with the next number, which is checked as well.",
		Columns: localColumns("calls"), Duration: localDuration, Quick: localQuick,
		Rows: []bench.Row{
			normal.moleculer("1 660 419/s, 602 ns"), normal.sabir(""), normal.limit(plainCall),
			params.moleculer("1 706 815/s, 585 ns"), params.sabir(""), params.limit(plainCall),
		}}
}
