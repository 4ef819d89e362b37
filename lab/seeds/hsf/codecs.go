package hsf

import (
	"context"
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

var (
	goCodecs   = bench.Go("hessian")
	javaCodecs = bench.Java("dubbo", "Codec.java")
	nodeCodecs = bench.Node("hsf", "codec.js")
)

// coder is a contender of the table of codecs.
type coder struct {
	name, row   string
	program     *bench.Program
	module      string
	settings    string
	ours, limit bool
}

const (
	asMaps   = "maps, without a Go type"
	asStruct = "a Go type, as a service has one"
)

var hessianCoders = []coder{
	{name: "Sabir", row: "sabir hessian", program: goCodecs, ours: true, settings: asMaps},
	{name: "Sabir, struct", row: "sabir hessian, struct", program: goCodecs, ours: true, settings: asStruct},
	{name: "memory copy", row: "memory copy", program: goCodecs, limit: true, settings: "the object's bytes in Hessian"},
	{name: "dubbo-go-hessian2", row: "dubbo-go-hessian2", program: goCodecs, module: "github.com/apache/dubbo-go-hessian2", settings: asMaps},
	{name: "hessian.js", row: "hessian.js", program: nodeCodecs, module: "hessian.js"},
	{name: "hessian-lite, Java", row: "hessian-lite", program: javaCodecs, module: "hessian-lite", settings: "the codec of Apache Dubbo; maps"},
}

var jsonCoders = []coder{
	{name: "Sabir", row: "sabir json", program: goCodecs, ours: true, settings: asMaps},
	{name: "Sabir, struct", row: "sabir json, struct", program: goCodecs, ours: true, settings: asStruct},
	{name: "memory copy", row: "memory copy", program: goCodecs, limit: true, settings: "the object's bytes in Hessian"},
	{name: "encoding/json", row: "encoding/json", program: goCodecs, settings: asMaps},
	{name: "JSON in Node", row: "JSON", program: nodeCodecs},
	{name: "fastjson2, Java", row: "fastjson2", program: javaCodecs, module: "fastjson2", settings: "maps"},
}

func hessianTable() bench.Table {
	return bench.Table{Name: "hessian", Title: "Codecs",
		About: "One operation writes or reads the complex object of *parse*, as maps and lists except where a type is named. Each codec first reads what it has written, and that must be the object. " +
			"Bytes are those of the object. CPU is that of the whole process, with the collection of garbage.",
		Columns: []bench.Column{
			{Key: "rate", Title: "operations/s", Unit: bench.PerSecond},
			{Key: "mean", Title: "time", Unit: bench.Duration, Less: true},
			{Key: "bytes", Title: "bytes", Unit: bench.Bytes, Less: true},
			{Key: "cpu", Title: "CPU", Unit: bench.Duration, Less: true},
			{Key: "memory", Title: "memory", Unit: bench.Bytes, Less: true},
		},
		Why: map[string]string{
			"Hessian, decode": "Maps and boxed values are 15 allocations, 7 with a Go type. Making and collecting them is nearly half of the CPU time in a Go heap of a few megabytes, " +
				"filling the maps another fifth. Java's machine takes half a gigabyte of memory for the same.",
			"JSON, encode": "Sabir writes the names of a map in order, so that one value has one text: a fifth of its time; walking Go's maps is another eighth. Objects of " +
				"Node and fastjson2 are written in the order that they have. *Sabir, struct* is what a service with types does.",
			"JSON, decode": "Nearly half of the CPU time is memory, made and collected: Go maps, and a box for each value in them, 24 allocations. Java's machine takes half a gigabyte of memory for the same. " +
				"With a Go type there are 12 allocations, since one list of the object has no type.",
		},
		Duration: 300 * time.Millisecond, Quick: 100 * time.Millisecond,
		Rows: slices.Concat(coderRows("Hessian, encode", hessianCoders, "encode"), coderRows("Hessian, decode", hessianCoders, "decode"),
			coderRows("JSON, encode", jsonCoders, "encode"), coderRows("JSON, decode", jsonCoders, "decode"))}
}

func coderRows(group string, coders []coder, work string) []bench.Row {
	var rows []bench.Row
	for _, c := range coders {
		rows = append(rows, bench.Row{Name: c.name, Group: group, Ours: c.ours, Limit: c.limit, Settings: c.settings, Module: c.module,
			Needs: []*bench.Program{c.program},
			Open: func(ctx context.Context, _ *bench.Env) (bench.Runner, error) {
				return bench.Children(ctx, bench.Child(c.program, child.Order{Role: "codec", Row: c.row, Work: work}, bench.Unpinned))
			}})
	}
	return rows
}
