package integration

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/codectest"
	"github.com/sabir-go/sabir/internal/race"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// shouted is the new codec of the steps below: JSON in other clothes, so that the test is about the steps.
type shouted struct {
	codec.Codec
	decoded atomic.Int64
}

func (*shouted) Name() string { return "shouted" }

func (c *shouted) Append(dst []byte, v any) ([]byte, error) {
	dst, err := c.Codec.Append(dst, v)
	return dst, named(err)
}

func (c *shouted) Decode(data []byte, v any) error {
	c.decoded.Add(1)
	return named(c.Codec.Decode(data, v))
}

// named makes an error of JSON one of the new codec, as the suite wants it.
func named(err error) error {
	if e, ok := errors.AsType[*codec.Error](err); ok {
		own := *e
		own.Codec = "shouted"
		return &own
	}
	if e, ok := errors.AsType[*codec.PanicError](err); ok {
		own := *e
		own.Codec = "shouted"
		return &own
	}
	return err
}

var added = &shouted{Codec: json.Codec}

func init() { codec.Register(added) } // step 2

func TestACodecIsAddedByTheStepsOfTheArchitecturePage(t *testing.T) {
	t.Run("step 3, the suite", func(t *testing.T) {
		if testing.Short() || race.Enabled {
			t.Skip("codec/json runs it too")
		}
		codectest.Run(t, added, codectest.Features{
			Refuses: map[string]string{
				"infinities":      "JSON has no text for them",
				"complex numbers": "JSON has no form for them",
			},
			Evolves: true, Widens: true, Sorted: true, AnyInteger: float64(0),
			Deep: func(levels int) []byte { return []byte(strings.Repeat("[", levels)) },
		})
	})
	t.Run("step 4, two nodes", func(t *testing.T) {
		near := started(t, sabir.NodeID("near"), sabir.Codecs(added), sabir.Join("mem://architecture"))
		started(t, sabir.NodeID("far"), sabir.Codecs(added), sabir.Join("mem://architecture"), sabir.Serve(echo()))
		if err := near.WaitFor(t.Context(), "echo"); err != nil {
			t.Fatal(err)
		}
		got, err := sabir.Call[article](t.Context(), near, "echo.say", article{ID: 7})
		if err != nil || got.ID != 7 || added.decoded.Load() == 0 {
			t.Errorf("got %+v, %v, after %d decoded values", got, err, added.decoded.Load())
		}
	})
}

// started runs a node for the length of a test.
func started(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	n := sabir.NewNode(append(options, sabir.Logger(quiet))...)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Stop(context.Background()) })
	return n
}

// Pages for contributors to Sabir are of no use where they name files that have moved.
func TestThePagesForContributorsNameFilesThatExist(t *testing.T) {
	link := regexp.MustCompile(`\]\(([\w./-]+)[#)]`)
	for _, page := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs/README.md", "examples/README.md"} {
		text, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(page), found[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
