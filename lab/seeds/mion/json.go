package mion

import (
	"context"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

var jsonProgram = bench.Go("http/json")

func jsonTable() bench.Table {
	t := bench.Table{Name: "json", Title: "JSON of the user",
		About: "One operation reads the 80 bytes of updateUser's body into a struct of Go and validates it, or writes that struct. Every user " +
			"and every text is compared with what it must be. Sabir has its own validation, the hand-written codec has the rules in its code, all " +
			"others have go-playground/validator. They write to a buffer that is there already where they can.",
		Columns: []bench.Column{
			{Key: "mean", Title: "each", Unit: bench.Duration, Less: true},
			{Key: "rate", Title: "a second", Unit: bench.PerSecond},
			{Key: "cpu", Title: "CPU", Unit: bench.Duration, Less: true},
			{Key: "memory", Title: "max memory", Unit: bench.Bytes, Less: true},
		}, Duration: 300 * time.Millisecond}
	for _, work := range []struct{ name, group string }{{"decode", "decode and validate"}, {"encode", "encode"}} {
		for _, r := range []bench.Row{
			{Name: "Sabir", Ours: true},
			{Name: "hand-written", Limit: true, Settings: "one pass for this one type; the strings stay in the text"},
			{Name: "encoding/json"},
			{Name: "encoding/json/v2", Module: "github.com/go-json-experiment/json", Settings: "as the module that it comes from: Go has it behind an experiment"},
			{Name: "sonic", Module: "github.com/bytedance/sonic"},
			{Name: "goccy", Module: "github.com/goccy/go-json"},
			{Name: "segmentio", Module: "github.com/segmentio/encoding"},
		} {
			order := child.Order{Role: "client", Row: r.Name, Work: work.name}
			r.Group, r.Needs = work.group, []*bench.Program{jsonProgram}
			r.Open = func(ctx context.Context, _ *bench.Env) (bench.Runner, error) {
				return bench.Children(ctx, bench.Child(jsonProgram, order, bench.Unpinned))
			}
			t.Rows = append(t.Rows, r)
		}
	}
	return t
}
