package mion

import (
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/http/ask"
)

var (
	autocannon = tool{ask.Autocannon, bench.Node("http", "node_modules/autocannon/autocannon.js")}
	wrk        = tool{ask.Wrk, bench.Tool("wrk", "apt-get install wrk")}
)

// second is the shortest load that the tools can make.
const second = time.Second

var requestColumns = []bench.Column{
	{Key: "rate", Title: "Req/s", Unit: bench.PerSecond},
	{Key: "mean", Title: "latency", Unit: bench.Duration, Less: true},
	{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
	{Key: "output", Title: "output/s", Unit: bench.Bytes},
	{Key: "memory:server", Title: "max memory", Unit: bench.Bytes, Less: true},
	{Key: "cores:server", Title: "CPU", Unit: bench.Percent, Less: true},
	{Key: "cpu:server", Title: "CPU per request", Unit: bench.Duration, Less: true},
}

// method is the text on the method that the tables of requests share.
const method = ` The server is pinned to core 0, the load to core 1. Every server answers good and bad requests rightly before it is
measured, and again after each measurement; an error status or a broken connection under load takes the row out. Memory and CPU are the
server's; its CPU in percent of a core counts the start of the tool, too. One core of autocannon asks about 110 000 requests a second
at most, and one of wrk 125 000 without pipelining: faster servers look equal there, so judge by CPU per request. The two limits know
these two addresses only and have no limits on what they read.`

// autocannonGroup is the report's own method.
const autocannonGroup = "autocannon -c 100 -p 10"

const pipelinedGroup = "wrk, 10 pipelined"

const whyAutocannon = "autocannon, one core of JavaScript, is at its end here, and no server of Go has used its core up. One that answers later answers more " +
	"requests in one write, which costs autocannon less, so it gets more of them. With wrk, where the server is at its end, the order is another."

const whyHello = "fasthttp, fiber and hertz give a handler the request as it is; Sabir makes a call of it, with its contexts, a request id, limits and 65 bytes more of headers."

func updateUser() bench.Table {
	return bench.Table{Name: "update-user", Title: "A user that is parsed, validated and answered",
		About: "One operation is a POST of a small JSON user; the answer is that user with its date a day later, so that the date is read and " +
			"written. The rules are an id from 0 on, names of 1 to 64 characters and a date; who does not check them says so in its settings, and " +
			"does less." + method,
		Columns: requestColumns, Duration: second, Quick: second, Why: map[string]string{autocannonGroup: whyAutocannon},
		Rows: slices.Concat(
			load{ask.UpdateUser, autocannon, 10}.rows(autocannonGroup, whoever),
			load{ask.UpdateUser, wrk, 1}.rows("wrk", whoCanRun),
			load{ask.UpdateUser, wrk, 10}.rows(pipelinedGroup, leadingOrOurs),
		)}
}

func hello() bench.Table {
	return bench.Table{Name: "hello", Title: "Hello world",
		About:   `One operation is a GET that is answered with {"hello":"world"} as JSON.` + method,
		Columns: requestColumns, Duration: second, Quick: second, Why: map[string]string{autocannonGroup: whyAutocannon,
			"wrk": whyHello,
			pipelinedGroup: "Where ten requests share the reading and the writing, what is left is the server's own work. fasthttp and fiber give a handler the " +
				"request as it is; Sabir makes a call of it, with its contexts, a request id, limits and 65 bytes more of headers, which costs half a microsecond. " +
				"Where there is a body to read and to check, as in the table before, that is the smaller part, and the order is another."},
		Rows: slices.Concat(
			load{ask.Hello, autocannon, 10}.rows(autocannonGroup, engines),
			load{ask.Hello, wrk, 1}.rows("wrk", leadingEngines),
			load{ask.Hello, wrk, 10}.rows(pipelinedGroup, leadingEngines),
		)}
}

// Who has a part in a group.
func whoever(contender) bool     { return true }
func whoCanRun(c contender) bool { return c.missing == "" }
func engines(c contender) bool   { return !c.codecOnly }
func leading(c contender) bool   { return c.missing == "" && !c.lesser }

func leadingEngines(c contender) bool { return engines(c) && leading(c) }

func leadingOrOurs(c contender) bool { return c.ours || leading(c) }

// rows of a group: of the contenders that have a part in it.
func (l load) rows(group string, part func(contender) bool) []bench.Row {
	var rows []bench.Row
	for _, c := range contenders {
		if !part(c) {
			continue
		}
		r := c.row(group)
		if l.action == ask.UpdateUser && l.tool.kind == ask.Autocannon {
			r.Published = c.published
		}
		if c.missing == "" {
			r.Needs = []*bench.Program{c.program, loader, l.tool.program}
			r.Open = l.open(c)
		}
		rows = append(rows, r)
	}
	return rows
}
