package config_test

import (
	"context"
	"log"
	"log/slog"
	"os"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/config"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/telemetry"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/dashboard"
)

// A node whose operator decides, with a setting of the program's own.
func ExampleLoadOrExit() {
	users := sabir.NewService("users")
	// doc: load
	var own struct {
		Currency string `json:"currency" default:"EUR" validate:"len=3" doc:"What prices are in."`
	}
	c := config.LoadOrExit(config.Config{
		Args:     os.Args[1:],
		App:      &own,
		Defaults: config.Settings{HTTP: config.HTTP{Address: ":3000"}},
	})
	node := sabir.NewNode(sabir.Serve(users), c.Option())
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	// end
}

// A node whose code says what no setting does: who may call over HTTP, traces, and what the log hides.
func ExampleLoaded_Option() {
	users := sabir.NewService("users")
	var own struct {
		JWT secret.Secret `json:"jwt" doc:"What tokens are signed with."`
	}
	// doc: code
	ring := dashboard.Traces(4096)
	c := config.LoadOrExit(config.Config{
		Args:      os.Args[1:],
		App:       &own,
		Telemetry: telemetry.Config{Traces: ring}, // with metrics for sabir top, and with admin.metrics for Prometheus too
		LogHandler: func(h slog.Handler) slog.Handler {
			return telemetry.Redact(ring.LogHandler(h), "password", "token")
		},
	})
	node := sabir.NewNode(sabir.Serve(users, ring.Service()),
		c.Option(web.With(web.Config{Auth: []auth.Authenticator{&auth.JWT{Secret: own.JWT.Bytes()}}}), dashboard.At("/dashboard")))
	// end
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
