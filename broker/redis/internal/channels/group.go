package channels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/replication"
)

// longest is the time that one blocking read waits; it also bounds how late a message is noticed that came due by the hand of
// another consumer.
const longest = 2 * time.Second

type group struct {
	store *store
	spec  engine.GroupSpec
	log   string
	due   string
	fails string
	lease string // milliseconds
	last  string // the newest id that the group was given, as far as this consumer knows; of Receive

	reading chan error    // the answer of the read that waits for what is new; of Receive
	sooner  chan struct{} // this consumer has set when a message comes again, which may be before Receive looks

	once  sync.Once
	ended context.Context
	end   context.CancelFunc
}

func (s *store) Join(ctx context.Context, spec engine.GroupSpec) (engine.Group, error) {
	if _, err := s.spec(spec.Channel); err != nil {
		return nil, err
	}
	g := &group{store: s, spec: spec, log: s.log(spec.Channel), due: s.due(spec.Channel, spec.Name), fails: s.failed(spec.Channel, spec.Name), lease: strconv.FormatInt(max(1, spec.AckWait.Milliseconds()), 10), sooner: make(chan struct{}, 1)}
	g.ended, g.end = context.WithCancel(context.Background())
	return g, g.create(ctx)
}

// create makes the consumer group where it is not there yet. Replicas have it when create returns: a group that began with what is
// new, and was lost when a replica took over, would begin later, and miss what was published in between.
func (g *group) create(ctx context.Context) error {
	start := "0"
	switch {
	case g.spec.From.New && g.last != "": // it was there
		start = g.last
	case g.spec.From.New:
		start = "$"
	case g.spec.From.Sequence > 0:
		start = before(g.spec.From.Sequence)
	case !g.spec.From.Time.IsZero():
		start = fmt.Sprintf("%d-%d", max(0, g.spec.From.Time.UnixMilli()-1), uint64(1<<64-1))
	}
	b := g.store.server.B()
	results, unconfirmed := g.store.server.Primary.Do(ctx, b.XgroupCreate().Key(g.log).Group(g.spec.Name).Id(start).Mkstream().Build())
	err := results[0].Error()
	if said, ok := rueidis.IsRedisErr(err); ok && strings.HasPrefix(said.Error(), "BUSYGROUP") {
		if !g.store.server.Primary.Waits() {
			return nil
		}
		results, unconfirmed = g.store.server.Primary.Do(ctx, b.Set().Key(g.store.mark(g.spec.Channel)).Value("").Px(time.Second).Build()) // behind what another made
		err = results[0].Error()
	}
	if err == nil {
		err = unconfirmed
	}
	return failure(err)
}

func (g *group) Receive(ctx context.Context, limit int) ([]*engine.Delivery, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(g.ended, cancel)
	defer stop()
	for {
		if g.ended.Err() != nil {
			return nil, engine.ErrClosed
		}
		list, wait, err := g.take(limit)
		if err != nil || len(list) > 0 {
			return list, err
		}
		if err := g.await(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// take is not cut short by the caller's context: what it takes would be lost until it is due again.
//
// The invariant: a consumer has no message but one that replicas have. If a message could be lost while it is handled, a new primary
// could give its id to another one, and Done would take that for handled.
func (g *group) take(limit int) (list []*engine.Delivery, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	call := replication.Call{Keys: []string{g.log, g.due, g.fails}, Args: []string{g.spec.Name, strconv.Itoa(limit), g.lease}}
	results, unconfirmed := g.store.server.Primary.Run(ctx, take, call)
	answer, err := results[0].ToArray()
	if said, ok := rueidis.IsRedisErr(err); ok && strings.Contains(said.Error(), "NOGROUP") {
		return nil, 0, g.create(ctx) // the server was emptied
	}
	if err == nil && len(answer) != 3 {
		err = errors.New("the script answered something else")
	}
	if err != nil {
		return nil, 0, failure(err)
	}
	entries, err := answer[0].ToArray()
	if err != nil {
		return nil, 0, failure(err)
	}
	for _, e := range entries {
		d, err := delivery(e)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, d)
		if d.Attempt+d.Lost == 1 { // it is new, and the others of the list that are come after it
			g.last = d.Handle.(string)
		}
	}
	if len(list) > 0 {
		if unconfirmed != nil {
			g.giveBack(ctx, list)
			return nil, 0, failure(unconfirmed)
		}
		return list, 0, nil
	}
	ms, _ := answer[1].AsInt64()
	g.last, _ = answer[2].ToString()
	wait = longest
	if ms >= 0 {
		wait = min(wait, time.Duration(ms)*time.Millisecond)
	}
	return nil, wait, nil
}

// giveBack is for what was taken and cannot be handed on. Where it fails the messages come again after AckWait.
func (g *group) giveBack(ctx context.Context, list []*engine.Delivery) {
	arguments := []string{g.spec.Name}
	for _, d := range list {
		arguments = append(arguments, d.Handle.(string), strconv.Itoa(d.Attempt+d.Lost-1))
	}
	_ = giveBack.Exec(ctx, g.store.server, []string{g.log, g.due}, arguments).Error()
}

// delivery reads the script's result for one message: id, failed attempts, how often it was handed out, fields.
func delivery(message rueidis.RedisMessage) (*engine.Delivery, error) {
	parts, err := message.ToArray()
	if err != nil || len(parts) != 4 {
		return nil, fmt.Errorf("channel: a message came in an unknown form: %w", err)
	}
	id, err := parts[0].ToString()
	if err != nil {
		return nil, err
	}
	d := &engine.Delivery{Handle: id}
	d.Sequence, d.Broken = sequenceOf(id)
	failed, _ := parts[1].AsInt64()
	handed, _ := parts[2].AsInt64()
	d.Attempt = 1 + max(0, int(failed))
	d.Lost = max(0, int(handed)-d.Attempt)
	named, err := parts[3].AsStrMap()
	if err != nil {
		d.Broken = errors.Join(d.Broken, err)
		return d, nil
	}
	d.Message, err = readMessage(named)
	d.Broken = errors.Join(d.Broken, err)
	return d, nil
}

// await returns when something was published after the last message that the group was given, when this consumer has set when a message
// comes again, or when the time is over. The read that waits goes on then, and is that of the next await: to break it off would cost its
// connection.
func (g *group) await(ctx context.Context, wait time.Duration) error {
	if g.reading == nil {
		server, answer := g.store.server, make(chan error, 1)
		read := server.B().Xread().Count(1).Block(longest.Milliseconds()).Streams().Key(g.log).Id(cmp.Or(g.last, "0-0")).Build() // without a last one the group was just made
		go func() { answer <- server.Do(g.ended, read).Error() }()
		g.reading = answer
	}
	due := time.NewTimer(wait)
	defer due.Stop()
	select {
	case err := <-g.reading:
		g.reading = nil
		if err == nil || rueidis.IsRedisNil(err) {
			return nil
		}
		if g.ended.Err() != nil {
			return engine.ErrClosed
		}
		return failure(err)
	case <-g.sooner:
		return nil
	case <-due.C:
		return nil
	case <-ctx.Done():
		if g.ended.Err() != nil {
			return engine.ErrClosed
		}
		return ctx.Err()
	}
}

func (g *group) Done(ctx context.Context, list ...*engine.Delivery) error {
	client, ids := g.store.server, idsOf(list)
	commands := rueidis.Commands{
		client.B().Xack().Key(g.log).Group(g.spec.Name).Id(ids...).Build(),
		client.B().Zrem().Key(g.due).Member(ids...).Build(),
	}
	if slices.ContainsFunc(list, func(d *engine.Delivery) bool { return d.Attempt > 1 }) {
		commands = append(commands, client.B().Hdel().Key(g.fails).Field(ids...).Build())
	}
	for _, answer := range client.DoMulti(ctx, commands...) {
		if err := answer.Error(); err != nil {
			return failure(err)
		}
	}
	return nil
}

func (g *group) Retry(ctx context.Context, d *engine.Delivery, after time.Duration) error {
	ms, attempts := strconv.FormatInt(max(0, after.Milliseconds()), 10), strconv.Itoa(d.Attempt)
	err := fail.Exec(ctx, g.store.server, []string{g.due, g.fails}, []string{ms, d.Handle.(string), attempts}).Error()
	g.look()
	return failure(err)
}

// Release leaves it to the server's own count of deliveries that one more is Lost the next time.
func (g *group) Release(ctx context.Context, d *engine.Delivery) error {
	err := g.again(ctx, "0", d)
	g.look()
	return err
}

// look has Receive ask anew when the next message is due.
func (g *group) look() {
	select {
	case g.sooner <- struct{}{}:
	default:
	}
}

func (g *group) Extend(ctx context.Context, list ...*engine.Delivery) error {
	return g.again(ctx, g.lease, list...)
}

func (g *group) again(ctx context.Context, ms string, list ...*engine.Delivery) error {
	return failure(again.Exec(ctx, g.store.server, []string{g.due}, append([]string{ms}, idsOf(list)...)).Error())
}

func idsOf(list []*engine.Delivery) []string {
	ids := make([]string, len(list))
	for i, d := range list {
		ids[i] = d.Handle.(string)
	}
	return ids
}

func (g *group) Close() error {
	g.once.Do(g.end)
	return nil
}
