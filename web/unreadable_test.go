package web

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

func TestTheLogNamesActionsWhoseTypesJSONCannotRead(t *testing.T) {
	type line struct {
		Dash string `json:"-,"`
	}
	type order struct {
		Lines []*line `json:"lines"`
	}
	type shift struct {
		From time.Time `json:"from,format:Clock"`
	}
	s := sabir.NewService("orders")
	sabir.Handle(s, "create", func(context.Context, order) (nothing, error) { return nothing{}, nil })
	sabir.Handle(s, "get", func(context.Context, nothing) (map[string]shift, error) { return nil, nil })
	sabir.Handle(s, "count", func(context.Context, struct{ Left *int }) (int, error) { return 0, nil })
	sabir.Handle(s, "hide", func(context.Context, *struct{ name string }) (nothing, error) { return nothing{}, nil })
	sabir.Handle(s, "late", func(context.Context, time.Time) (nothing, error) { return nothing{}, nil })
	sabir.Handle(s, "watch", func(context.Context, nothing) (struct{ C chan int }, error) { return struct{ C chan int }{}, nil })
	sabir.Handle(s, "read", func(context.Context, io.Reader) (nothing, error) { return nothing{}, nil })
	sabir.Handle(s, "why", func(context.Context, any) (struct{ Cause error }, error) { return struct{ Cause error }{}, nil })
	sabir.Handle(s, "inner", func(context.Context, shift) (nothing, error) { return nothing{}, nil }, sabir.NodeOnly())
	var log bytes.Buffer
	node := sabir.NewNode(sabir.Serve(s), sabir.HTTP(":0"), sabir.Logger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := node.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	text := log.String()
	if strings.Count(text, "cannot be called with JSON") != 5 || !strings.Contains(text, `action=orders.hide type="struct { name string }"`) || !strings.Contains(text, `action=orders.watch type="chan int"`) || !strings.Contains(text, "action=orders.read type=io.Reader") ||
		!strings.Contains(text, "action=orders.create type=web.line") || !strings.Contains(text, "action=orders.get type=web.shift") {
		t.Error(text)
	}
}
