package admin_test

import (
	"context"
	"database/sql"
	"log"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/admin"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/telemetry"
)

// A service that is ready while its database answers, with probes, metrics and profiles for this machine.
func ExampleServe() {
	db, err := sql.Open("sqlite", "users.db")
	if err != nil {
		log.Fatal(err)
	}
	tel, err := telemetry.New(telemetry.Config{Prometheus: true})
	if err != nil {
		log.Fatal(err)
	}
	// doc: check
	users := sabir.NewService("users", sabir.Ready("db", db.PingContext))
	// end
	// doc: serve
	node := sabir.NewNode(sabir.Serve(users), admin.Serve(":9464", admin.Metrics(tel.Handler()), admin.Profiler()))
	// end
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// Where other machines can reach the address, metrics and profiles want a key.
func ExampleServe_key() {
	var (
		tel *telemetry.Telemetry
		key string
	)
	operators :=
		// doc: key
		admin.Serve("0.0.0.0:9464", admin.Metrics(tel.Handler()), gateway.Key(key))
		// end
	if err := sabir.NewNode(operators).Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
