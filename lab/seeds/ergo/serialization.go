package ergo

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// codecs is the program with the codecs.
var codecs = bench.Go("codecs")

// shapes are the eight values, as the report calls them; the program knows them by their numbers.
var shapes = []string{"String", "PID", "ProcessID", "Simple Struct", "Complex Struct", "Nested Struct", "Map", "Nested Map"}

// codecRow is a codec in both tables. Published are the report's figures, in the order of shapes.
type codecRow struct {
	name, module, settings string
	ours, limit            bool
	encode, decode         []string
}

var codecRows = []codecRow{
	{name: "EDF", module: "ergo.services/ergo", settings: "no caches, as in the report; PIDs of its own types",
		encode: []string{"28.75 ns/op (57 B, 0 allocs)", "40.65 ns/op (32 B, 1 alloc)", "41.90 ns/op (32 B, 1 alloc)", "108.5 ns/op (155 B, 2 allocs)",
			"283.2 ns/op (307 B, 6 allocs)", "731.4 ns/op (731 B, 17 allocs)", "306.9 ns/op (325 B, 10 allocs)", "606.8 ns/op (534 B, 19 allocs)"},
		decode: []string{"76.26 ns/op (72 B, 4 allocs)", "110.1 ns/op (160 B, 6 allocs)", "120.9 ns/op (168 B, 7 allocs)", "190.6 ns/op (258 B, 9 allocs)",
			"741.1 ns/op (1366 B, 41 allocs)", "2104 ns/op (4593 B, 107 allocs)", "547.9 ns/op (954 B, 25 allocs)", "1128 ns/op (2045 B, 51 allocs)"}},
	{name: "EDF, type cache", module: "ergo.services/ergo", settings: "the cache of types that its connections have; PIDs of its own types"},
	{name: "Protobuf", module: "google.golang.org/protobuf", settings: "generated, MarshalAppend; fields may come and go",
		encode: []string{"42.29 ns/op (32 B, 1 alloc)", "51.15 ns/op (24 B, 1 alloc)", "48.70 ns/op (32 B, 1 alloc)", "46.15 ns/op (24 B, 1 alloc)",
			"479.5 ns/op (224 B, 9 allocs)", "1516 ns/op (640 B, 27 allocs)", "335.9 ns/op (112 B, 5 allocs)", "850.8 ns/op (256 B, 11 allocs)"},
		decode: []string{"70.84 ns/op (96 B, 2 allocs)", "66.73 ns/op (80 B, 2 allocs)", "81.94 ns/op (104 B, 3 allocs)", "70.18 ns/op (88 B, 2 allocs)",
			"595.6 ns/op (824 B, 25 allocs)", "1704 ns/op (2544 B, 71 allocs)", "365.4 ns/op (528 B, 13 allocs)", "894.3 ns/op (1328 B, 30 allocs)"}},
	{name: "Gob", settings: "one encoder; a decoder for each message, as in the report; fields may come and go",
		encode: []string{"72.98 ns/op (16 B, 1 alloc)", "106.9 ns/op (32 B, 1 alloc)", "98.46 ns/op (32 B, 1 alloc)", "111.5 ns/op (32 B, 1 alloc)",
			"351.9 ns/op (88 B, 5 allocs)", "909.5 ns/op (256 B, 15 allocs)", "235.5 ns/op (32 B, 2 allocs)", "438.4 ns/op (80 B, 5 allocs)"},
		decode: []string{"452.2 ns/op (1000 B, 19 allocs)", "5902 ns/op (7136 B, 160 allocs)", "5660 ns/op (6984 B, 157 allocs)", "5821 ns/op (7072 B, 156 allocs)",
			"9534 ns/op (10872 B, 255 allocs)", "12543 ns/op (14712 B, 342 allocs)", "6689 ns/op (8256 B, 185 allocs)", "7496 ns/op (9696 B, 212 allocs)"}},
	{name: "Gob, one stream", settings: "one encoder and one decoder, types sent before: its best case"},
	{name: "vtprotobuf", module: "github.com/planetscale/vtprotobuf", settings: "generated; fields may come and go"},
	{name: "msgp", module: "github.com/tinylib/msgp", settings: "generated; fields may come and go, by their names"},
	{name: "mus-go", module: "github.com/mus-format/mus-go", settings: "by hand for each type; fields are fixed"},
	{name: "benc", module: "github.com/deneonet/benc", settings: "by hand for each type; fields are fixed"},
	{name: "cbor", module: "github.com/fxamacker/cbor/v2", settings: "MarshalToBuffer; fields may come and go, by their names"},
	{name: "hamba/avro", module: "github.com/hamba/avro/v2", settings: "schema known, writer and reader reused; fields may come and go, by the writer's schema"},
	{name: "sonic", module: "github.com/bytedance/sonic", settings: "JSON, EncodeInto; fields may come and go, by their names"},
	{name: "Sabir", ours: true, settings: "its native codec as on a link, strings copied; fields may come and go, the schema is sent once for each link"},
	{name: "Sabir, aliasing", ours: true, settings: "the same, strings are parts of the message"},
	{name: "Sabir, self-describing", ours: true, settings: "the same with its schema's hash, 8 bytes, in each message"},
	{name: "memory copy", limit: true, settings: "of the bytes that Sabir's codec makes"},
}

// encodingTable is the report's comparison of encoding.
func encodingTable() bench.Table {
	return serializationTable("encode", bench.Table{Name: "edf-encoding", Title: "Serialization: encoding",
		Why: map[string]string{
			"":                   "msgp, benc, mus-go and vtprotobuf are generated, or written by hand, for each type; the native codec runs a plan that it makes of the type at the start.",
			"Map, encode":        whyMaps,
			"Nested Map, encode": whyMaps,
		}}, func(r codecRow) bool { return r.name != "Gob, one stream" && r.name != "Sabir, aliasing" })
}

// whyMaps explains the figures for maps, after a profile.
const whyMaps = "Generated code ranges over its map; a plan made at run time walks it with reflect's iterator, a sixth of its time, and copies each key and value out of it."

// decodingTable is the report's comparison of decoding.
func decodingTable() bench.Table {
	return serializationTable("decode", bench.Table{Name: "edf-decoding", Title: "Serialization: decoding",
		Why: map[string]string{"": "msgp, benc, mus-go and vtprotobuf are generated, or written by hand, for each type, and assign its fields; the native codec runs a " +
			"plan that it makes of the sender's schema and the receiver's type, so that fields may come and go. Of decoding a string a third is that " +
			"plan and finding it, the rest the string's copy, which all make but *Sabir, aliasing*."}}, func(codecRow) bool { return true })
}

// serializationTable has each codec that differs in a direction, in a group for each shape.
func serializationTable(direction string, t bench.Table, differs func(codecRow) bool) bench.Table {
	t.About = "One operation encodes or decodes one value; the values are those of Ergo's benchmark. The figure is CPU time, with what the garbage " +
		"collector takes in other threads. Encoding goes into a buffer that is used again where the library has a way to, decoding into a new value. Every codec must " +
		"give back every value before anything is measured, and again after each measurement. A process for each codec.\n\n" +
		"Not comparable: EDF has types of its own for PID and ProcessID. Avro, Sabir's native codec and Gob in one stream know the writer's schema before, as on an open " +
		"connection. Protobuf has messages of one field in place of a bare string or map. *Aliasing* leaves the strings in the message's memory; all " +
		"others copy them (sonic keeps parts of a copy of its input)."
	t.Columns = []bench.Column{
		{Key: "cpu", Title: "CPU per op", Unit: bench.Duration, Less: true},
		{Key: "size", Title: "encoded", Unit: bench.Bytes, Less: true},
		{Key: "allocated", Title: "allocated per op", Unit: bench.Bytes, Less: true},
		{Key: "allocs", Title: "allocs per op", Unit: bench.Count, Less: true},
	}
	t.Duration, t.Quick = 50*time.Millisecond, 8*time.Millisecond
	processes := map[string]*shared{}
	for i, shape := range shapes {
		for _, c := range codecRows {
			if !differs(c) {
				continue
			}
			if processes[c.name] == nil {
				processes[c.name] = &shared{order: child.Order{Role: "codec", Row: c.name}}
			}
			r := bench.Row{Name: c.name, Group: shape + ", " + direction, Ours: c.ours, Limit: c.limit, Settings: c.settings, Module: c.module,
				Needs: []*bench.Program{codecs}, Open: processes[c.name].open(fmt.Sprintf("%s %d", direction, i))}
			published := map[string][]string{"encode": c.encode, "decode": c.decode}[direction]
			if published != nil {
				r.Published = published[i]
			}
			t.Rows = append(t.Rows, r)
		}
	}
	return t
}

// shared is a process that all rows of a codec use, which lives as long as one of them is open.
type shared struct {
	order child.Order

	lock    sync.Mutex
	process *bench.Process
	users   int
}

// open is the Open of the row that measures one thing of the codec.
func (s *shared) open(word string) openRow {
	return func(ctx context.Context, _ *bench.Env) (bench.Runner, error) {
		s.lock.Lock()
		defer s.lock.Unlock()
		if s.users == 0 {
			process, err := bench.StartChild(ctx, codecs, s.order, bench.Unpinned)
			if err != nil {
				return nil, err
			}
			s.process = process
		}
		s.users++
		return &user{s, word}, nil
	}
}

// user is one of the rows that share a process.
type user struct {
	*shared
	word string
}

func (u *user) Measure(ctx context.Context, d time.Duration) (s child.Sample, err error) {
	r, err := u.process.Ask(ctx, fmt.Sprintf("%s %d", u.word, d))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(r.Data, &s)
}

func (u *user) Processes() []*bench.Process { return []*bench.Process{u.process} }

func (u *user) Close() {
	u.lock.Lock()
	defer u.lock.Unlock()
	if u.users--; u.users == 0 {
		u.process.Stop()
	}
}
