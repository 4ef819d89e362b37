package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/codec"
	_ "github.com/sabir-go/sabir/codec/avro"
	_ "github.com/sabir-go/sabir/codec/cbor"
	_ "github.com/sabir-go/sabir/codec/gob"
	_ "github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/codec/json"
	_ "github.com/sabir-go/sabir/codec/msgpack"
	_ "github.com/sabir-go/sabir/codec/native"
	_ "github.com/sabir-go/sabir/codec/protobuf"
	_ "github.com/sabir-go/sabir/codec/thrift"
)

// sampleDocument is measured if the command line names no document.
const sampleDocument = `{"id":"o-1042","customer":{"name":"Ada Lovelace","email":"ada@example.com","vip":true},` +
	`"lines":[{"product":"tea","count":3,"price":4.5},{"product":"cup","count":1,"price":12.25}],` +
	`"tags":["gift","express"],"total":25.75,"paid":true,"note":null,"createdAt":"2026-01-02T03:04:05Z"}`

// codecRow is the measurement of one codec on a document. Times are of one message, in nanoseconds.
type codecRow struct {
	Codec    string  `json:"codec"`
	Bytes    int     `json:"bytes"`
	EncodeNs float64 `json:"encode_ns"`
	DecodeNs float64 `json:"decode_ns"`
	EncodeMB float64 `json:"encode_mb_per_s"` // megabytes of the document as JSON
	DecodeMB float64 `json:"decode_mb_per_s"`
	Problem  string  `json:"problem,omitempty"` // why the codec cannot hold the document; all else is 0 then
}

// maxCodecTime bounds how long one measurement may take.
const maxCodecTime = time.Minute

func (c *cli) codecsCommand() *cobra.Command {
	var each time.Duration
	command := &cobra.Command{
		Use:     "codecs [file] [flags]",
		GroupID: groupMake,
		Short:   "Compare the codecs on a JSON document",
		Long: `Writes and reads a JSON document with every codec and prints the size of the
bytes and the time of one message, the fastest to read first. Use it to choose
a codec for your own data. The document comes from a file, from stdin with -,
or is a small order where none is given.

The document becomes a Go struct, so that codecs with a schema take part. MB/s
are megabytes of the document as JSON without spaces, so they compare. A codec
that cannot hold the document, or gives another one back, says why.`,
		Example: `  sabir codecs
  sabir codecs order.json
  sabir call orders.list --json | sabir codecs - --time 1s
  sabir codecs order.json --json`,
		Args:              takes(0, 1, "one file with a JSON document, or - for stdin"),
		ValidArgsFunction: completeFile,
		RunE: func(command *cobra.Command, args []string) error {
			if each <= 0 || each > maxCodecTime {
				return usagef("--time is %v: want more than 0 and at most %v", each, maxCodecTime)
			}
			text, err := c.codecDocument(command.Context(), args)
			if err != nil {
				return err
			}
			return c.compareCodecs(command.Context(), text, each)
		},
	}
	command.Flags().DurationVar(&each, "time", 200*time.Millisecond, "how long each codec is measured in each direction")
	return command
}

func (c *cli) codecDocument(ctx context.Context, args []string) ([]byte, error) {
	if len(args) == 0 {
		return []byte(sampleDocument), nil
	}
	if args[0] == "-" {
		return readBounded(untilDone(ctx, c.stdin), "stdin")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return nil, usagef("the document cannot be read: %v", err)
	}
	defer f.Close()
	return readBounded(f, args[0])
}

func (c *cli) compareCodecs(ctx context.Context, text []byte, each time.Duration) error {
	t, err := typeOfDocument(text)
	if err != nil {
		return usagef("the document is not JSON: %v", err)
	}
	value := reflect.New(t).Interface()
	if err := json.Codec.Decode(text, value); err != nil {
		return usagef("the document cannot be read: %v", err)
	}
	compact, err := json.Codec.Append(nil, value)
	if err != nil {
		return failf("the document cannot be written: %v", err)
	}
	names := codec.Names()
	step, done := c.steps("measuring codecs", 2*len(names))
	defer done()
	var rows []codecRow
	for _, name := range names {
		one, ok := codec.Lookup(name)
		if !ok {
			continue
		}
		m := codecMeasure{ctx: ctx, codec: one, value: value, compact: compact, each: each, step: step}
		rows = append(rows, m.row())
		if err := ctx.Err(); err != nil {
			return failf("stopped before all codecs were measured")
		}
	}
	done()
	slices.SortStableFunc(rows, func(a, b codecRow) int {
		switch {
		case (a.Problem == "") != (b.Problem == ""):
			return len(a.Problem) - len(b.Problem) // those without one first
		case a.DecodeNs < b.DecodeNs:
			return -1
		}
		return 1
	})
	if c.json {
		writeJSON(c.stdout, struct {
			Document int        `json:"document_bytes"` // as JSON without spaces
			Codecs   []codecRow `json:"codecs"`
		}{len(compact), rows})
		return nil
	}
	fmt.Fprintf(c.stdout, "A document of %s bytes as JSON.\n\n", grouped(int64(len(compact))))
	show(c, rows, []string{"CODEC", "BYTES", "OF JSON", "ENCODE", "MB/S", "DECODE", "MB/S", "NOTE"}, func(r codecRow) []string {
		if r.Problem != "" {
			return []string{r.Codec, "-", "-", "-", "-", "-", "-", r.Problem}
		}
		share := fmt.Sprintf("%.0f %%", 100*float64(r.Bytes)/float64(len(compact)))
		return []string{r.Codec, grouped(int64(r.Bytes)), share, micros(r.EncodeNs / 1e3), digits(r.EncodeMB), micros(r.DecodeNs / 1e3), digits(r.DecodeMB), ""}
	}, "no codec is linked")
	return nil
}

// steps shows how many of n steps are over on stderr, if that is a terminal and --json is not set.
func (c *cli) steps(what string, n int) (step, done func()) {
	line := newLiveLine(c.stderr)
	if c.json || !line.live {
		return func() {}, func() {}
	}
	over := 0
	step = func() {
		over++
		line.show(fmt.Sprintf("%d %% %s", 100*over/n, what))
	}
	return step, line.end
}

// codecMeasure is one codec on one value.
type codecMeasure struct {
	ctx     context.Context
	codec   codec.Codec
	value   any    // a pointer
	compact []byte // the value as JSON
	each    time.Duration
	step    func()
}

func (m *codecMeasure) row() codecRow {
	row := codecRow{Codec: m.codec.Name()}
	data, problem := m.check()
	if problem != "" {
		m.step()
		m.step()
		row.Problem = strings.TrimPrefix(problem, row.Codec+": ")
		return row
	}
	row.Bytes = len(data)
	buffer := make([]byte, 0, 2*len(data)+1024)
	row.EncodeNs = m.time(func() { _, _ = m.codec.Append(buffer, m.value) }) // it worked in check
	m.step()
	t := reflect.TypeOf(m.value).Elem()
	row.DecodeNs = m.time(func() { _ = m.codec.Decode(data, reflect.New(t).Interface()) })
	m.step()
	row.EncodeMB, row.DecodeMB = float64(len(m.compact))*1e3/row.EncodeNs, float64(len(m.compact))*1e3/row.DecodeNs
	return row
}

// check reports whether the value comes back as it was.
func (m *codecMeasure) check() (data []byte, problem string) {
	data, err := m.codec.Append(nil, m.value)
	if err != nil {
		return nil, err.Error()
	}
	back := reflect.New(reflect.TypeOf(m.value).Elem()).Interface()
	if err := m.codec.Decode(data, back); err != nil {
		return nil, err.Error()
	}
	again, err := json.Codec.Append(nil, back)
	if err != nil || string(again) != string(m.compact) {
		return nil, "the document comes back changed"
	}
	return data, ""
}

// codecRounds is the number of times that each measurement is made; the median counts.
const codecRounds = 5

// time measures f, in nanoseconds.
func (m *codecMeasure) time(f func()) float64 {
	round := m.each / codecRounds
	n := 1
	var took []float64
	for len(took) < codecRounds && m.ctx.Err() == nil {
		start := time.Now()
		for range n {
			f()
		}
		spent := time.Since(start)
		if len(took) == 0 && spent < round/2 { // find how many fill a round
			n *= 2
			continue
		}
		took = append(took, float64(spent.Nanoseconds())/float64(n))
	}
	if len(took) == 0 {
		return 1
	}
	slices.Sort(took)
	return max(took[len(took)/2], 1)
}
