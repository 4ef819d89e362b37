package states

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/grainstore"
	"github.com/sabir-go/sabir/internal/redis"
	"github.com/sabir-go/sabir/internal/replication"
)

func init() {
	grainstore.Register("redis", driver{})
	grainstore.Register("rediss", driver{})
}

const (
	// goneFor is the time that the slot of a deleted grain stays.
	goneFor = 24 * time.Hour
	// dialLimit bounds a connection that is made again, and answerLimit a ping: a server that leaves one without an answer for
	// so long loses its connection.
	dialLimit   = 2 * time.Second
	answerLimit = 5 * time.Second
)

// tokenBits is the number of bits of a version that hold the write's token. The others count microseconds since 1970, in a
// number that Lua has exactly; they last until the year 2112.
//
// The invariant: a slot is replaced only by an activation that has loaded or written the very state that is in it. A number
// alone would not keep that: when a replica takes over that lacks a write, it counts on from an earlier number, with another
// clock, and could give the number of the lost write to another one. The author of the lost write would then write over that
// as if it were its own. So the number names the random token as well, and the script compares both; and where the clock is
// behind, it also counts on by a random number. Two writes get one version with a probability of 2^-24 at most, and only
// where the clocks are out of step.
const tokenBits = 12

// versionOf is a slot's version: r, and the first bits of its token.
func versionOf(r string, token grainstore.Token) (uint64, error) {
	n, err := strconv.ParseUint(r, 10, 64-tokenBits)
	return n<<tokenBits | uint64(token[0])<<4 | uint64(token[1])>>4, err
}

// expected is the two parts of a version as the script compares them.
func expected(version uint64) (r, token string) {
	return strconv.FormatUint(version>>tokenBits, 10), fmt.Sprintf("%03x", version&(1<<tokenBits-1))
}

// write replaces a slot if it has the version that is expected, and answers with the new r; with nothing if it has another. A
// repetition of the write that made the slot is answered as that was, and writes something, so that replicas can confirm it.
// KEYS: slot. ARGV: r, the beginning of the token, the new token, "1" for gone, milliseconds that a slot which is gone stays, state.
//
// The first write of a deletion needs no memory: so a server without any deletes grains, which makes room.
//
// Redis runs a script whole or not at all, also when it reads its append-only file again. Numbers in Lua are exact up to 2^53.
var write = replication.NewScript(`
local slot = redis.call('HMGET', KEYS[1], 'r', 't')
local have, token = slot[1] or '0', slot[2] or '000'
if token == ARGV[3] then
  redis.call('HSET', KEYS[1], 'r', have)
  return have
end
if have ~= ARGV[1] or string.sub(token, 1, 3) ~= ARGV[2] then return false end
local time = redis.call('TIME')
local next = tonumber(have) + 1 + tonumber(string.sub(ARGV[3], 4, 6), 16)
local version = string.format('%.0f', math.max(time[1] * 1000000 + time[2], next))
if ARGV[4] == '1' then
  redis.call('HDEL', KEYS[1], 's')
  redis.call('HSET', KEYS[1], 'r', version, 't', ARGV[3], 's', '', 'gone', '1')
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
else
  redis.call('HSET', KEYS[1], 'r', version, 't', ARGV[3], 's', ARGV[6])
  redis.call('HDEL', KEYS[1], 'gone')
  redis.call('PERSIST', KEYS[1])
end
return version`)

// read reads a slot and writes what changes nothing, so that replicas can confirm it: else a primary that was cut off would answer
// with what is out of date, and one that is about to be lost with what will not have been saved.
//
// The first write of each branch needs no memory. So a server without any runs the script, and grains that are saved can be loaded.
var read = replication.NewScript(`
local slot = redis.call('HMGET', KEYS[1], 'r', 't', 'gone', 's')
if slot[1] then
  redis.call('HDEL', KEYS[1], '')
  redis.call('HSET', KEYS[1], 'r', slot[1])
else
  redis.call('DEL', KEYS[1])
  redis.call('SET', KEYS[1], '')
  redis.call('DEL', KEYS[1])
end
return slot`)

type driver struct{}

func (driver) Open(ctx context.Context, at *url.URL, config grainstore.Config) (grainstore.Backend, error) {
	a, err := redis.Parse(at, config.TLS)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	option := a.Options()
	option.ClientName, option.ConnWriteTimeout, option.Dialer.Timeout = config.Name, answerLimit, dialLimit
	option.AlwaysPipelining = true // else a context that is cancelled is noticed only at its deadline
	server, err := redis.Open(ctx, a, option, config.Log)
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", a.Name, unopened(err))
	}
	return &backend{server: server, prefix: a.Prefix + ":grain:"}, nil
}

// unopened is the error of a store that was not opened, or was only asked: nothing was lost.
func unopened(err error) error {
	if errors.Is(err, replication.ErrNotOffered) {
		return err
	}
	failed := failure(err)
	if errors.Is(failed, store.ErrOutcomeUnknown) {
		return fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
	}
	return failed
}

type backend struct {
	server *redis.Server
	prefix string
}

// slot is the key of a grain. A kind has no colon, so that no two grains have one.
func (b *backend) slot(kind, key string) string { return b.prefix + kind + ":" + key }

func (b *backend) Read(ctx context.Context, kind, key string) (slot grainstore.Slot, err error) {
	answer, unconfirmed := b.look(ctx, b.slot(kind, key))
	fields, err := answer.ToArray()
	if err == nil && len(fields) != 4 {
		err = errors.New("it answered something else")
	}
	if err != nil {
		return slot, failure(err)
	}
	if unconfirmed != nil {
		return slot, failure(unconfirmed)
	}
	if fields[0].IsNil() {
		return slot, nil
	}
	version, err := fields[0].ToString()
	if err != nil {
		return slot, failure(err)
	}
	token, _ := fields[1].ToString()
	slot.Token = grainstore.ParseToken(token)
	if slot.Version, err = versionOf(version, slot.Token); err != nil {
		return slot, fmt.Errorf("store: the key %q holds something that this package has not written: %w", b.slot(kind, key), err)
	}
	slot.Gone = !fields[2].IsNil()
	if !fields[3].IsNil() && !slot.Gone {
		slot.State, err = fields[3].AsBytes()
	}
	return slot, failure(err)
}

func (b *backend) look(ctx context.Context, slot string) (rueidis.RedisResult, error) {
	if !b.server.Primary.Waits() {
		return b.server.Do(ctx, b.server.B().Hmget().Key(slot).Field("r", "t", "gone", "s").Build()), nil
	}
	answers, err := b.server.Primary.Run(ctx, read, replication.Call{Keys: []string{slot}})
	return answers[0], err
}

func (b *backend) Write(ctx context.Context, kind, key string, expect uint64, slot grainstore.Slot) (uint64, error) {
	gone := "0"
	if slot.Gone {
		gone = "1"
	}
	r, token := expected(expect)
	// The state is copied: the client may still have it to send when ctx has ended and the caller uses it for other things.
	arguments := []string{r, token, slot.Token.String(), gone, strconv.FormatInt(goneFor.Milliseconds(), 10), string(slot.State)}
	answers, unconfirmed := b.server.Primary.Run(ctx, write, replication.Call{Keys: []string{b.slot(kind, key)}, Args: arguments})
	answer, err := answers[0].ToString()
	if rueidis.IsRedisNil(err) {
		return 0, store.ErrFenced
	}
	if err != nil {
		return 0, failure(err)
	}
	if unconfirmed != nil {
		return 0, failure(unconfirmed)
	}
	return versionOf(answer, slot.Token)
}

// Check makes a write that replicas have to confirm too.
func (b *backend) Check(ctx context.Context) error {
	results, unconfirmed := b.server.Primary.Do(ctx, b.server.B().Set().Key(b.prefix+"confirm").Value("").Px(time.Second).Build())
	if err := results[0].Error(); err != nil {
		return unopened(err)
	}
	if unconfirmed != nil {
		return unopened(unconfirmed)
	}
	return nil
}

func (b *backend) Close() error {
	b.server.Close()
	return nil
}

// failure makes the store's error of the client's.
func failure(err error) error {
	if err == nil {
		return nil
	}
	if unconfirmed, ok := errors.AsType[*replication.Unconfirmed](err); ok {
		return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, unconfirmed)
	}
	switch redis.RefusalOf(err) {
	case redis.Full:
		return fmt.Errorf("%w: %w", store.ErrStoreFull, err)
	case redis.NotReady:
		return fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
	case redis.OtherRefusal:
		return fmt.Errorf("store: Redis refused it: %w", err)
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		return fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
	}
	return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
}
