package sabir_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

func TestARuleThatNamesNobodyKeepsAServiceFromStarting(t *testing.T) {
	for want, rule := range map[string]sabir.Allow{
		"says of nobody that they may":        {Audited: true},
		"Nodes and Services need names":       {Nodes: []string{}, Services: []string{"support"}},
		"Services need names":                 {Services: []string{""}},
		`Nodes has the pattern "["`:           {Nodes: []string{"["}},
		`the pattern "", which takes no name`: {Nodes: []string{"orders", ""}},
	} {
		for place, serve := range map[string]func() *sabir.Service{
			"service": func() *sabir.Service { return sabir.NewService("vault", rule) },
			"action": func() *sabir.Service {
				s := sabir.NewService("vault")
				sabir.Handle(s, "open", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil }, rule)
				return s
			},
			"event handler": func() *sabir.Service {
				s := sabir.NewService("vault")
				sabir.On(s, "vault.*", func(context.Context, string) error { return nil }, rule)
				return s
			},
		} {
			n := sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(serve()))
			err := n.Start(t.Context())
			if err == nil {
				_ = n.Stop(context.Background())
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "allow_test.go:") {
				t.Errorf("%s with %+v: %v", place, rule, err)
			}
		}
	}
}
