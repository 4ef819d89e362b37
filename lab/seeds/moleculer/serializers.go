package moleculer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/serializers/documents"
)

// The programs of the table of serializers.
var (
	serializersGo   = bench.Go("serializers")
	serializersNode = bench.Node("serializers", "child.js", "--expose-gc")
)

// How long one measurement takes, and how long one of Moleculer's serializers works before its first.
const (
	serializersDuration = 50 * time.Millisecond
	serializersQuick    = 10 * time.Millisecond
)

// serializer is a contender in all groups.
type serializer struct {
	bench.Row
	key       string // as the programs call it
	published map[string]string
}

// serializerContenders returns the contenders in the order of the rows.
func serializerContenders() []serializer {
	node := func(name, module, settings string, published map[string]string) serializer {
		return serializer{bench.Row{Name: "Moleculer, " + name, Module: module, Settings: settings, Needs: []*bench.Program{serializersNode}}, name, published}
	}
	ours := func(key, settings string) serializer {
		return serializer{bench.Row{Name: "Sabir, " + key, Ours: true, Settings: settings, Needs: []*bench.Program{serializersGo}}, key, nil}
	}
	const inside, theirs = "data and meta as JSON inside", "data and meta as JSON inside, bytes as Moleculer's"
	return []serializer{
		node("JSON", "moleculer", "", map[string]string{"10 B": "811 290/s, 1 µs, 89 B", "150 B": "437 439/s, 2 µs, 229 B", "1 kB": "148 417/s, 6 µs, 1131 B",
			"10 kB": "19 147/s, 52 µs, 10 528 B", "50 kB": "4 110/s, 243 µs, 50 601 B", "100 kB": "2 075/s, 481 µs, 101 100 B", "1 MB": "187/s, 5 ms, 1 010 082 B"}),
		node("Avro", "avsc", inside, map[string]string{"10 B": "624 283/s, 1 µs, 38 B", "150 B": "348 092/s, 2 µs, 179 B", "1 kB": "125 403/s, 7 µs, 1081 B",
			"10 kB": "18 598/s, 53 µs, 10 479 B", "50 kB": "4 032/s, 248 µs, 50 552 B", "100 kB": "2 045/s, 488 µs, 101 051 B", "1 MB": "184/s, 5 ms, 1 010 033 B"}),
		node("MsgPack", "msgpack5", "", map[string]string{"10 B": "76 703/s, 13 µs, 69 B", "150 B": "63 000/s, 15 µs, 210 B", "1 kB": "17 387/s, 57 µs, 1113 B",
			"10 kB": "2 343/s, 426 µs, 10 510 B", "50 kB": "481/s, 2 ms, 50 583 B", "100 kB": "234/s, 4 ms, 101 084 B", "1 MB": "22/s, 44 ms, 1 010 066 B"}),
		node("ProtoBuf", "protobufjs", inside, map[string]string{"10 B": "770 425/s, 1 µs, 45 B", "150 B": "408 807/s, 2 µs, 200 B", "1 kB": "143 478/s, 6 µs, 1170 B",
			"10 kB": "20 118/s, 49 µs, 11 213 B", "50 kB": "4 362/s, 229 µs, 54 187 B", "100 kB": "2 202/s, 454 µs, 108 312 B", "1 MB": "195/s, 5 ms, 1 082 562 B"}),
		node("Thrift", "thrift", inside, map[string]string{"10 B": "110 583/s, 9 µs, 76 B", "150 B": "93 022/s, 10 µs, 258 B", "1 kB": "63 276/s, 15 µs, 1364 B",
			"10 kB": "14 284/s, 70 µs, 12 699 B", "50 kB": "3 401/s, 294 µs, 61 472 B", "100 kB": "1 752/s, 570 µs, 122 849 B", "1 MB": "156/s, 6 ms, 1 227 635 B"}),
		node("CBOR", "cbor-x", "", nil),
		node("Notepack", "notepack.io", "", nil),
		ours("native", ""), ours("json", ""), ours("avro", "the schema's fingerprint ahead"), ours("msgpack", ""),
		ours("protobuf", ""), ours("thrift", "binary protocol"), ours("cbor", ""),
		ours("native, any", "data without a Go type"), ours("json, any", "data without a Go type"),
		ours("avro, JSON inside", theirs+", with the schema's fingerprint ahead"),
		ours("protobuf, JSON inside", theirs), ours("thrift, JSON inside", theirs),
		{bench.Row{Name: "Copy of the packet's JSON", Limit: true, Needs: []*bench.Program{serializersGo}}, "copy", nil},
	}
}

func serializerTables() []bench.Table {
	var rows []bench.Row
	all := new(shared)
	for _, size := range documents.Sizes {
		for _, direction := range []string{"serialize", "deserialize"} {
			for _, s := range serializerContenders() {
				row := s.in(direction, size, all)
				rows = append(rows, row)
			}
		}
	}
	return []bench.Table{{Name: "serializers", Title: "Serializers",
		About: "One operation encodes or decodes one packet: Moleculer's answer to a call, with a document inside whose JSON has the lengths of the " +
			"report's; bytes is the length of the whole packet, whose ids are longer than the report's. The report has figures of serializing only. Each packet's length, or the fields " +
			"around the document, are checked, and after each measurement the whole last packet. Moleculer's serializers are those of 0.14, the " +
			"last version with all of them; three of them keep the document as JSON in a field. Sabir's rows encode Go structs, unless they " +
			"say otherwise, and decode into new ones; JavaScript has no such types. A contender has one process, of one thread but for garbage " +
			"collection, for all groups.",
		Columns: []bench.Column{
			{Key: "rate", Title: "packets/s", Unit: bench.PerSecond},
			{Key: "mean", Title: "time per packet", Unit: bench.Duration, Less: true},
			{Key: "bytes", Title: "bytes", Unit: bench.Count, Less: true},
			{Key: "cpu", Title: "CPU per packet", Unit: bench.Duration, Less: true},
			{Key: "memory", Title: "memory", Unit: bench.Bytes, Less: true},
		},
		Rows: rows, Duration: serializersDuration, Quick: serializersQuick}}
}

// in is the contender's row in the group of a size and a direction.
func (s serializer) in(direction, size string, all *shared) bench.Row {
	row, program := s.Row, s.Needs[0]
	row.Group = size + ", " + direction
	if direction == "serialize" {
		row.Published = s.published[size]
	}
	row.Open = func(ctx context.Context, e *bench.Env) (bench.Runner, error) {
		return all.row(s.Name, "use "+direction+" "+size, func() (bench.Runner, []*bench.Process, error) {
			o := child.Order{Role: "process", Row: s.key}
			if program == serializersNode {
				var err error
				if o.Address, err = documentsFolder(e); err != nil {
					return nil, nil, err
				}
			}
			runner, err := bench.Children(ctx, bench.Child(program, o, bench.Unpinned))
			return runner, nil, err
		})
	}
	return row
}

// documentsFolder has all documents as files, for programs that cannot make them; the first call writes them.
func documentsFolder(e *bench.Env) (string, error) {
	dir, err := e.Socket("documents")
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); errors.Is(err, fs.ErrExist) {
		return dir, nil
	} else if err != nil {
		return "", fmt.Errorf("a folder for documents: %w", err)
	}
	for _, size := range documents.Sizes {
		text, err := documents.JSON(size)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, size+".json"), text, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}
