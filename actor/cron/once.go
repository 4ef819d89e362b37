package cron

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/backoff"
)

// onceKind is the kind of the records that say which times of a job are taken.
const onceKind = "sabir.cron"

// takeWithin bounds how long a run tries to take its time in the store.
const takeWithin = 30 * time.Second

// errRunElsewhere ends a run whose time another node has taken.
var errRunElsewhere = sabir.NewError(sabir.CodeAlreadyExists, "RunElsewhere", "another node runs the job at this time")

// work returns the function that the process of a run calls. For a job that runs once in a cluster it first takes the time at which it was due, and
// does nothing where another node has taken it.
func (j *job) work(due time.Time) func(p *actor.Process) error {
	do := j.Do.run
	if j.Do.send != nil {
		do = j.Do.send
	}
	if j.Once == nil {
		return do
	}
	st, name := j.Once, j.Name
	return func(p *actor.Process) error {
		if err := take(p.Context(), st, name, due); err != nil {
			return err
		}
		return do(p)
	}
}

// take makes a time of a job this run's own; errRunElsewhere if it, or a later one, is taken. The store lets one of those that write at the
// same time win.
func take(ctx context.Context, st store.Store, name string, due time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, takeWithin)
	defer cancel()
	mark := due.UTC().Format(time.RFC3339Nano) + " " + rand.Text() // by which this run knows its record, if the answer to the write is lost
	for failed := 1; ; failed++ {
		err := tryTake(ctx, st, name, mark, due)
		if err == nil || errors.Is(err, errRunElsewhere) {
			return err
		}
		if backoff.Sleep(ctx, backoff.Reconnect.Wait(failed)) != nil {
			return fmt.Errorf("cron: job %q did not run at %s: %w", name, due, err)
		}
	}
}

func tryTake(ctx context.Context, st store.Store, name, mark string, due time.Time) error {
	taken, err := st.Load(ctx, onceKind, name)
	if err != nil {
		return err
	}
	if record := string(taken.State); record == mark {
		return nil
	} else if record != "" {
		at, _, _ := strings.Cut(record, " ")
		last, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			return fmt.Errorf("the record of its last run in the store cannot be read: %w", err)
		}
		if !last.Before(due) {
			return errRunElsewhere
		}
	}
	_, err = st.Save(ctx, onceKind, name, []byte(mark), taken.Revision)
	return err // ErrFenced: another node has taken a time meanwhile, this one or one before it
}
