package lease_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/cron"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/lease"
)

type (
	SendDue struct{}
	Sent    struct{ Token uint64 }
)

var Send = sabir.NewAction[SendDue, Sent]("mailer.send")

func Example_service() {
	ctx := context.Background()
	// doc: once
	mailer := sabir.NewService("mailer", sabir.Once())
	Send.Handle(mailer, func(ctx context.Context, _ SendDue) (Sent, error) {
		return Sent{Token: lease.FromContext(ctx).Token()}, nil
	})

	st, err := store.Open(ctx, "mem://shop") // "nats://…" or "redis://…" for several machines
	if err != nil {
		fmt.Println(err)
		return
	}
	defer st.Close()
	leases := lease.New(st, lease.Config{})
	node := sabir.NewNode(sabir.Serve(mailer), leases.Option())
	// end
	if err := node.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer node.Stop(ctx)
	if err := node.WaitFor(ctx, "mailer"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(Send.Call(ctx, node, SendDue{}))
	// Output: {1} <nil>
}

func Example_leader() {
	ctx := context.Background()
	st, err := store.Open(ctx, "mem://billing")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer st.Close()
	leases := lease.New(st, lease.Config{Log: quiet})
	bill := func(ctx context.Context, token uint64) error { fmt.Println("billed under token", token); return nil }
	// doc: lead
	err = leases.Lead(ctx, "billing", func(ctx context.Context) error {
		return bill(ctx, lease.FromContext(ctx).Token())
	})
	// end
	fmt.Println(err)
	// Output:
	// billed under token 1
	// <nil>
}

func Example_name() {
	ctx := context.Background()
	st, err := store.Open(ctx, "mem://names")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer st.Close()
	leases := lease.New(st, lease.Config{Log: quiet})
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)
	ref, err := actor.Spawn(system, printing, sabir.Empty{})
	if err != nil {
		fmt.Println(err)
		return
	}
	// doc: name
	held, err := leases.Register(ctx, system, ref.PID(), "printer") // waits until no other process has the name
	if err != nil {
		fmt.Println(err)
		return
	}
	pid, err := leases.WhereIs(ctx, "printer") // on any node
	// end
	fmt.Println(pid == ref.PID(), err)
	fmt.Println(held.Release(ctx))
	_, err = leases.WhereIs(ctx, "printer")
	fmt.Println(errors.Is(err, lease.ErrNoName))
	// Output:
	// true <nil>
	// <nil>
	// true
}

func Example_cron() {
	ctx := context.Background()
	st, err := store.Open(ctx, "mem://jobs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer st.Close()
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)
	done := make(chan struct{})
	jobs, err := cron.Start(system) // the scheduler
	if err != nil {
		fmt.Println(err)
		return
	}
	err = jobs.Add(ctx, cron.Job{
		Name:  "report",
		Every: 10 * time.Millisecond,
		Once:  st, // the store that all nodes share
		Do:    func(p *actor.Process) error { return report(p, done) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	<-done
	fmt.Println(jobs.Remove(ctx, "report"))
	// Output: <nil>
}

func report(p *actor.Process, done chan struct{}) error {
	select {
	case done <- struct{}{}:
	case <-p.Context().Done():
	}
	return nil
}
