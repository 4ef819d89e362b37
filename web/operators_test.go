package web

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
)

func TestTheLogNamesOnlyOperatorsThatThereCanBe(t *testing.T) {
	const key = "0123456789-secret-key"
	for name, test := range map[string]struct {
		node      sabir.NodeOption
		want, not string
	}{
		"this machine":             {sabir.HTTP(":0", With(Config{Operators: []string{ThisMachine}})), "for operators: caller on this machine", "nobody"},
		"this machine, with a key": {sabir.HTTP(":0", With(Config{Operators: []string{ThisMachine}}), gateway.Key(key)), "for nobody (operators would be: caller on this machine; but", "for operators"},
		"all, with a key":          {sabir.HTTP(":0", With(Config{Operators: []string{ThisMachine, KeyHolder, "ops"}}), gateway.Key(key)), "for operators: holder of gateway.Key, ops", "this machine,"},
		"the key, without one":     {sabir.HTTP(":0", With(Config{Operators: []string{KeyHolder}})), "for nobody", "for operators"},
	} {
		var lines strings.Builder
		node := sabir.NewNode(sabir.Logger(slog.New(slog.NewTextHandler(&lines, nil))), test.node)
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := node.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if !strings.Contains(lines.String(), test.want) || strings.Contains(lines.String(), test.not) {
			t.Errorf("%s: want %q and not %q in\n%s", name, test.want, test.not, &lines)
		}
	}
}
