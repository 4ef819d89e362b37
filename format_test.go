package sabir_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/native"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// counted is JSON under other names, that counts how often it is used.
type counted struct {
	codec.Codec
	name string
	used atomic.Int64
}

func (c *counted) Name() string { return c.name }

func (c *counted) Append(dst []byte, v any) ([]byte, error) {
	c.used.Add(1)
	return c.Codec.Append(dst, v)
}

var red, blue = &counted{Codec: json.Codec, name: "red"}, &counted{Codec: json.Codec, name: "blue"}

func init() {
	codec.Register(red)
	codec.Register(blue)
}

type paint struct{ Colour string }

func paintNode(t *testing.T, id, address string, options ...any) *sabir.Node {
	t.Helper()
	s := sabir.NewService("paint-" + id)
	handler := func(_ context.Context, in paint) (paint, error) { return in, nil }
	sabir.Handle(s, "mix", handler)
	sabir.Handle(s, "blue", handler, sabir.Codecs(blue))
	sabir.HandleStream(s, "flow", func(_ context.Context, stream *sabir.Stream[paint, paint]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		return stream.Send(in)
	})
	sabir.On(s, "painted", func(context.Context, paint) error { return nil })
	var join []cluster.Option
	all := []sabir.NodeOption{sabir.NodeID(id), sabir.Serve(s)}
	for _, o := range options {
		switch o := o.(type) {
		case sabir.NodeOption:
			all = append(all, o)
		case cluster.Option:
			join = append(join, o)
		}
	}
	n := sabir.NewNode(append(all, sabir.Join(address, join...))...)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Stop(context.Background()) })
	return n
}

// forLinks makes it plain that Codecs is meant for Join and not for the node.
type forLinks struct{ cluster.Option }

func TestTheFormatOfValuesIsNegotiated(t *testing.T) {
	for _, test := range []struct {
		name         string
		action       string
		here, there  []any
		want         *counted // that is used both ways; nil for neither
		wantNoCommon bool
	}{
		{name: "native without Codecs", action: "mix"},
		{name: "the caller's choice", action: "mix", here: []any{sabir.Codecs(red)}, want: red},
		{name: "the first of the caller's that the other takes", action: "mix", here: []any{sabir.Codecs(blue, red)}, there: []any{sabir.Codecs(red, native.Codec())}, want: red},
		{name: "the other's choice where the caller has none", action: "mix", there: []any{sabir.Codecs(blue)}, want: blue},
		{name: "the action's choice first", action: "blue", here: []any{sabir.Codecs(red, blue)}, want: blue},
		{name: "the choice for links before that for the node", action: "mix", here: []any{sabir.Codecs(red), forLinks{sabir.Codecs(blue)}}, want: blue},
		{name: "nothing in common", action: "mix", here: []any{sabir.Codecs(red)}, there: []any{sabir.Codecs(blue)}, wantNoCommon: true},
		{name: "nothing in common with an action", action: "blue", here: []any{sabir.Codecs(red)}, wantNoCommon: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := "mem://codecs-" + strings.ReplaceAll(test.name, " ", "-")
			paintNode(t, "there", address, test.there...)
			here := paintNode(t, "here", address, test.here...)
			red.used.Store(0)
			blue.used.Store(0)
			out, err := sabir.Call[paint](t.Context(), here, "paint-there."+test.action, paint{"green"})
			if test.wantNoCommon {
				if !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "NoCommonCodec", "")) || !strings.Contains(err.Error(), "red") || !strings.Contains(err.Error(), "blue") {
					t.Errorf("the call ended with %v", err)
				}
				return
			}
			if err != nil || out.Colour != "green" {
				t.Fatalf("%v, %v", out, err)
			}
			for _, c := range []*counted{red, blue} {
				want := int64(0)
				if c == test.want {
					want = 2
				}
				if used := c.used.Load(); used != want {
					t.Errorf("%s was used %d times, want %d", c.name, used, want)
				}
			}
		})
	}
}

func TestStreamsAndEventsTravelInTheChosenFormatToo(t *testing.T) {
	paintNode(t, "there", "mem://codecs-streams")
	here := paintNode(t, "here", "mem://codecs-streams", sabir.Codecs(red))
	red.used.Store(0)
	stream, err := sabir.OpenStream[paint, paint](t.Context(), here, "paint-there.flow")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := stream.Send(paint{"green"}); err != nil {
		t.Fatal(err)
	}
	if out, err := stream.Recv(); err != nil || out.Colour != "green" || red.used.Load() != 2 {
		t.Errorf("%v, %v; red was used %d times", out, err, red.used.Load())
	}
	if err := sabir.Emit(t.Context(), here, "painted", paint{"green"}); err != nil || red.used.Load() < 3 {
		t.Errorf("%v; red was used %d times", err, red.used.Load())
	}
}

func TestValuesWithoutATypeTravelAsJSONWhateverWasChosen(t *testing.T) {
	paintNode(t, "there", "mem://codecs-any", sabir.Codecs(blue))
	here := paintNode(t, "here", "mem://codecs-any", sabir.Codecs(red))
	out, err := sabir.Call[any](t.Context(), here, "paint-there.mix", map[string]any{"Colour": "green"})
	if m, ok := out.(map[string]any); err != nil || !ok || m["Colour"] != "green" {
		t.Errorf("%v, %v", out, err)
	}
}

func TestACodecThatNodesCannotAgreeOnIsRefusedAtTheStartWithItsLine(t *testing.T) {
	for _, test := range []struct {
		name  string
		codec codec.Codec
		want  string
	}{
		{"nil", nil, "nil codec"},
		{"not registered", &counted{Codec: json.Codec, name: "morse"}, `"morse" is not registered`},
		{"another than the registered one", json.New(json.Config{Strict: true}), `"json" is not the one that is registered`},
		{"one that cannot be compared", bag{codec.Contained(json.Codec), nil}, `"json" is not the one that is registered`},
	} {
		codecs := sabir.Codecs(red, test.codec)
		s := sabir.NewService("s")
		sabir.Handle(s, "a", none, codecs)
		contract := sabir.NewService("s")
		sabir.NewAction[sabir.Empty, sabir.Empty]("s.a", codecs).Handle(contract, none)
		for at, options := range map[string][]sabir.NodeOption{
			"a node":             {codecs},
			"a Join":             {sabir.Join("mem://codecs-refused", codecs)},
			"an action":          {sabir.Serve(s)},
			"an action contract": {sabir.Serve(contract)},
		} {
			t.Run(test.name+", for "+at, func(t *testing.T) {
				err := sabir.NewNode(append(options, sabir.Logger(quiet))...).Start(t.Context())
				reports(t, err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", ""), "format_test.go:", "Codecs", test.want)
			})
		}
	}
}

// bag is a codec whose values == cannot compare.
type bag struct {
	codec.Codec
	_ []int
}

// price keeps its value where only its own methods see it, as many types of money do.
type price struct{ cents int64 }

func (p price) MarshalJSON() ([]byte, error)     { return json.Codec.Append(nil, p.cents) }
func (p *price) UnmarshalJSON(text []byte) error { return json.Codec.Decode(text, &p.cents) }

func TestAValueThatOnlyItsMarshalJSONSeesReachesAnotherNode(t *testing.T) {
	s := sabir.NewService("till")
	sabir.Handle(s, "double", func(_ context.Context, in price) (price, error) { return price{2 * in.cents}, nil })
	bubbletest.Run(t, func(t *testing.T) {
		address := sabir.Join("mem://" + t.Name())
		nodes := joined(t, nil, []sabir.NodeOption{address, sabir.Serve(s)}, []sabir.NodeOption{address})
		if got, err := sabir.Call[price](t.Context(), nodes[1], "till.double", price{21}); err != nil || got.cents != 42 {
			t.Error(got, err)
		}
	})
}
