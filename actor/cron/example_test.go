package cron_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/cron"
)

func Example() {
	ctx := context.Background()
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)

	jobs, err := cron.Start(system)
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan struct{}, 1)
	err = jobs.Add(ctx, cron.Job{
		Name:  "clean",
		Every: 10 * time.Millisecond,
		Do: func(p *actor.Process) error {
			select {
			case done <- struct{}{}:
			default:
			}
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	<-done
	fmt.Println("cleaned")
	// Output: cleaned
}
