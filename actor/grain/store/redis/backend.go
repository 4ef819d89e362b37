package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/actor/grain/store"
)

func init() {
	store.Register("redis", driver{})
	store.Register("rediss", driver{})
}

// goneFor is how long the slot of a deleted grain stays.
const goneFor = 24 * time.Hour

// write replaces a slot if it has the version that is expected, and answers with the new version; with nothing if it has
// another.
// KEYS: slot. ARGV: expected version, token, "1" for gone, milliseconds that a slot which is gone stays, state.
//
// Redis runs a script whole or not at all, also when it reads its append-only file again. Numbers in Lua are exact up to
// 2^53, which microseconds since 1970 reach in the year 2255.
var write = rueidis.NewLuaScript(`
local have = redis.call('HGET', KEYS[1], 'r') or '0'
if have ~= ARGV[1] then return false end
local time = redis.call('TIME')
local version = string.format('%.0f', math.max(time[1] * 1000000 + time[2], tonumber(have) + 1))
if ARGV[3] == '1' then
  redis.call('HSET', KEYS[1], 'r', version, 't', ARGV[2], 's', '', 'gone', '1')
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
else
  redis.call('HSET', KEYS[1], 'r', version, 't', ARGV[2], 's', ARGV[5])
  redis.call('HDEL', KEYS[1], 'gone')
  redis.call('PERSIST', KEYS[1])
end
return version`)

type driver struct{}

func (driver) Open(ctx context.Context, at *url.URL, config store.Config) (store.Backend, error) {
	option, prefix, err := options(at, config)
	if err != nil {
		return nil, err
	}
	if end, ok := ctx.Deadline(); ok {
		option.Dialer.Timeout = min(dialLimit, max(time.Until(end), time.Millisecond))
	}
	client, err := rueidis.NewClient(option)
	if err != nil {
		if failed := failure(err); errors.Is(failed, store.ErrUnknown) {
			err = fmt.Errorf("%w: %w", store.ErrAway, err)
		} else {
			err = failed
		}
		return nil, fmt.Errorf("store: %s: %w", at.Redacted(), err)
	}
	b := &backend{client: client, prefix: prefix + ":grain:"}
	b.warn(ctx, config.Logger(), at)
	return b, nil
}

type backend struct {
	client rueidis.Client
	prefix string
}

// warn tells when Redis is set to lose what it has. A server that does not say is left alone.
func (b *backend) warn(ctx context.Context, log *slog.Logger, at *url.URL) {
	ask := b.client.B().ConfigGet().Parameter("appendonly", "appendfsync", "maxmemory-policy").Build()
	settings, err := b.client.Do(ctx, ask).AsStrMap()
	if err != nil {
		return
	}
	if policy := settings["maxmemory-policy"]; strings.HasPrefix(policy, "allkeys") {
		log.Warn("grains: this Redis throws grains away when its memory is full; set maxmemory-policy noeviction", "store", at.Redacted(), "maxmemory-policy", policy)
	}
	switch {
	case settings["appendonly"] == "no":
		log.Warn("grains: this Redis keeps no append-only file: states are lost when it ends; set appendonly yes", "store", at.Redacted())
	case settings["appendfsync"] != "always":
		log.Info("grains: this Redis may lose its last writes in a power cut; appendfsync always prevents it", "store", at.Redacted(), "appendfsync", settings["appendfsync"])
	}
}

// slot is the key of a grain. A kind has no colon, so that no two grains have one.
func (b *backend) slot(kind, key string) string { return b.prefix + kind + ":" + key }

func (b *backend) Read(ctx context.Context, kind, key string) (slot store.Slot, err error) {
	fields, err := b.client.Do(ctx, b.client.B().Hmget().Key(b.slot(kind, key)).Field("r", "t", "gone", "s").Build()).ToArray()
	if err == nil && len(fields) != 4 {
		err = errors.New("it answered something else")
	}
	if err != nil {
		return slot, failure(err)
	}
	if fields[0].IsNil() {
		return slot, nil
	}
	version, err := fields[0].ToString()
	if err != nil {
		return slot, failure(err)
	}
	if slot.Version, err = strconv.ParseUint(version, 10, 64); err != nil {
		return slot, fmt.Errorf("store: the key %q holds something that this package has not written: %w", b.slot(kind, key), err)
	}
	token, _ := fields[1].ToString()
	slot.Token = store.ParseToken(token)
	slot.Gone = !fields[2].IsNil()
	if !fields[3].IsNil() && !slot.Gone {
		slot.State, err = fields[3].AsBytes()
	}
	return slot, failure(err)
}

func (b *backend) Write(ctx context.Context, kind, key string, expect uint64, slot store.Slot) (uint64, error) {
	gone := "0"
	if slot.Gone {
		gone = "1"
	}
	// The state is copied: the client may still have it to send when ctx has ended and the caller uses it for other things.
	arguments := []string{strconv.FormatUint(expect, 10), slot.Token.String(), gone, strconv.FormatInt(goneFor.Milliseconds(), 10), string(slot.State)}
	answer, err := write.Exec(ctx, b.client, []string{b.slot(kind, key)}, arguments).ToString()
	if rueidis.IsRedisNil(err) {
		return 0, store.ErrFenced
	}
	if err != nil {
		return 0, failure(err)
	}
	return strconv.ParseUint(answer, 10, 64)
}

func (b *backend) Close() error {
	b.client.Close()
	return nil
}

// failure makes the store's error of the client's.
func failure(err error) error {
	if err == nil {
		return nil
	}
	if said, ok := rueidis.IsRedisErr(err); ok {
		return refusal(said.Error(), err)
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		return fmt.Errorf("%w: %w", store.ErrAway, err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnknown, err)
}

// refusal is of what the server said: then it has done nothing.
func refusal(text string, err error) error {
	word, _, _ := strings.Cut(text, " ")
	switch word {
	case "OOM", "MISCONF":
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case "LOADING", "MASTERDOWN", "READONLY", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "NOREPLICAS", "MOVED", "ASK":
		return fmt.Errorf("%w: %w", store.ErrAway, err)
	}
	return fmt.Errorf("store: Redis refused it: %w", err)
}
