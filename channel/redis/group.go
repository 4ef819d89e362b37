package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/channel"
)

// longest is how long one blocking read waits; it also bounds how late a message is noticed that came due by the hand of
// another consumer.
const longest = 2 * time.Second

type group struct {
	store *store
	spec  channel.GroupSpec
	log   string
	due   string
	lease string // milliseconds

	once  sync.Once
	ended context.Context
	end   context.CancelFunc
}

func (s *store) Join(ctx context.Context, spec channel.GroupSpec) (channel.Group, error) {
	if _, err := s.spec(spec.Channel); err != nil {
		return nil, err
	}
	g := &group{store: s, spec: spec, log: s.log(spec.Channel), due: s.due(spec.Channel, spec.Name), lease: strconv.FormatInt(max(1, spec.AckWait.Milliseconds()), 10)}
	g.ended, g.end = context.WithCancel(context.Background())
	return g, g.create(ctx)
}

// create makes the consumer group where it is not there yet.
func (g *group) create(ctx context.Context) error {
	start := "0"
	switch {
	case g.spec.From.New:
		start = "$"
	case g.spec.From.Sequence > 0:
		start = before(g.spec.From.Sequence)
	case !g.spec.From.Time.IsZero():
		start = fmt.Sprintf("%d-%d", max(0, g.spec.From.Time.UnixMilli()-1), uint64(1<<64-1))
	}
	b := g.store.client.B()
	err := g.store.client.Do(ctx, b.XgroupCreate().Key(g.log).Group(g.spec.Name).Id(start).Mkstream().Build()).Error()
	if said, ok := rueidis.IsRedisErr(err); ok && strings.HasPrefix(said.Error(), "BUSYGROUP") {
		return nil
	}
	return failure(err)
}

func (g *group) Receive(ctx context.Context, limit int) ([]*channel.Delivery, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(g.ended, cancel)
	defer stop()
	for {
		if g.ended.Err() != nil {
			return nil, channel.ErrClosed
		}
		list, wait, last, err := g.take(limit)
		if err != nil || len(list) > 0 {
			return list, err
		}
		if err := g.await(ctx, wait, last); err != nil {
			return nil, err
		}
	}
}

// take is not cut short by the caller's context: what it takes would be lost until it is due again.
func (g *group) take(limit int) (list []*channel.Delivery, wait time.Duration, last string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := take.Exec(ctx, g.store.client, []string{g.log, g.due}, []string{g.spec.Name, strconv.Itoa(limit), g.lease}).ToArray()
	if said, ok := rueidis.IsRedisErr(err); ok && strings.Contains(said.Error(), "NOGROUP") {
		return nil, 0, "0-0", g.create(ctx) // somebody emptied the server
	}
	if err == nil && len(answer) != 3 {
		err = errors.New("the script answered something else")
	}
	if err != nil {
		return nil, 0, "", failure(err)
	}
	entries, err := answer[0].ToArray()
	if err != nil {
		return nil, 0, "", failure(err)
	}
	for _, e := range entries {
		d, err := delivery(e)
		if err != nil {
			return nil, 0, "", err
		}
		list = append(list, d)
	}
	ms, _ := answer[1].AsInt64()
	last, _ = answer[2].ToString()
	wait = longest
	if ms >= 0 {
		wait = min(wait, time.Duration(ms)*time.Millisecond)
	}
	return list, wait, last, nil
}

// delivery reads what the script says of one message: id, attempts, fields.
func delivery(message rueidis.RedisMessage) (*channel.Delivery, error) {
	parts, err := message.ToArray()
	if err != nil || len(parts) != 3 {
		return nil, fmt.Errorf("channel: a message came in an unknown form: %w", err)
	}
	id, err := parts[0].ToString()
	if err != nil {
		return nil, err
	}
	d := &channel.Delivery{Handle: id}
	d.Sequence, d.Broken = sequenceOf(id)
	attempts, _ := parts[1].AsInt64()
	d.Attempt = max(1, int(attempts))
	fields, err := parts[2].AsStrMap()
	if err != nil {
		d.Broken = errors.Join(d.Broken, err)
		return d, nil
	}
	d.Data = []byte(fields["data"])
	head, err := channel.ReadHead([]byte(fields["head"]))
	d.Head, d.Broken = head, errors.Join(d.Broken, err)
	return d, nil
}

// await returns when something was published after the last message that the group was given, or when the time is over.
func (g *group) await(ctx context.Context, wait time.Duration, last string) error {
	client := g.store.client
	read := client.B().Xread().Count(1).Block(max(1, wait.Milliseconds())).Streams().Key(g.log).Id(last).Build()
	err := client.Do(ctx, read).Error()
	if err == nil || rueidis.IsRedisNil(err) {
		return nil
	}
	if g.ended.Err() != nil {
		return channel.ErrClosed
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return failure(err)
}

func (g *group) Done(ctx context.Context, list ...*channel.Delivery) error {
	client, ids := g.store.client, idsOf(list)
	for _, answer := range client.DoMulti(ctx,
		client.B().Xack().Key(g.log).Group(g.spec.Name).Id(ids...).Build(),
		client.B().Zrem().Key(g.due).Member(ids...).Build()) {
		if err := answer.Error(); err != nil {
			return failure(err)
		}
	}
	return nil
}

func (g *group) Retry(ctx context.Context, d *channel.Delivery, after time.Duration) error {
	return g.again(ctx, strconv.FormatInt(max(0, after.Milliseconds()), 10), d)
}

func (g *group) Extend(ctx context.Context, list ...*channel.Delivery) error {
	return g.again(ctx, g.lease, list...)
}

func (g *group) again(ctx context.Context, ms string, list ...*channel.Delivery) error {
	return failure(again.Exec(ctx, g.store.client, []string{g.due}, append([]string{ms}, idsOf(list)...)).Error())
}

func idsOf(list []*channel.Delivery) []string {
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
