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

// errRunAhead ends a run whose job has run at a time that is to come, by its record.
var errRunAhead = errors.New("a clock is wrong, that of this node or of the one that ran it: set it, and give the job another name, or wait until then")

// aheadAtMost is by how much the clock of another node may be ahead without a notice.
const aheadAtMost = time.Hour

// work returns the function that the process of a run calls. For a job that runs once in a cluster it first takes the time at which it was due, and
// does nothing where another node has taken it.
func (j *job) work(due time.Time) func(p *actor.Process) error {
	if j.Once == nil {
		return j.Do
	}
	st, name, do := j.Once, j.Name, j.Do
	return func(p *actor.Process) error {
		if err := take(p, st, name, due); err != nil {
			return err
		}
		return do(p)
	}
}

// take makes a time of a job this run's own; errRunElsewhere if it, or a later one, is taken. The store lets one of those that write at the
// same time win.
func take(p *actor.Process, st store.Store, name string, due time.Time) error {
	ctx, cancel := context.WithTimeout(p.Context(), takeWithin)
	defer cancel()
	mark := due.UTC().Format(time.RFC3339Nano) + " " + rand.Text() // by which this run knows its record, if the answer to the write is lost
	for failed := 1; ; failed++ {
		err := tryTake(ctx, st, name, mark, due, p.Now())
		if err == nil || errors.Is(err, errRunElsewhere) {
			return err
		}
		if errors.Is(err, errRunAhead) || backoff.Sleep(ctx, backoff.Reconnect.Wait(failed)) != nil {
			return fmt.Errorf("cron: job %q did not run at %s: %w", name, due, err)
		}
	}
}

func tryTake(ctx context.Context, st store.Store, name, mark string, due, now time.Time) error {
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
		switch {
		case last.Sub(now) >= aheadAtMost:
			return fmt.Errorf("the store says that it has run at %s: %w", at, errRunAhead)
		case !last.Before(due):
			return errRunElsewhere
		}
	}
	_, err = st.Save(ctx, onceKind, name, []byte(mark), taken.Revision)
	return err // ErrFenced: another node has taken a time meanwhile, this one or one before it
}
