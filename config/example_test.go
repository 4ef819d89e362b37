package config_test

import (
	"context"
	"log"
	"os"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/config"
)

// A node whose operator decides, with a setting of the program's own.
func ExampleLoad() {
	users := sabir.NewService("users")
	// doc: load
	var own struct {
		Currency string `json:"currency" default:"EUR" validate:"len=3" doc:"What prices are in."`
	}
	c, err := config.Load(config.Config{
		Args:     os.Args[1:],
		App:      &own,
		Defaults: config.Settings{HTTP: config.HTTP{Address: ":3000"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	node := sabir.NewNode(sabir.Serve(users), c.Option())
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	// end
}
