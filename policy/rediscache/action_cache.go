package rediscache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/policy"
)

// actionCache has the answers of one action, whose types have one form.
type actionCache struct {
	store          *Store
	action, form   string
	answers, locks string // how keys begin
	known          atomic.Pointer[knownAge]

	mu   sync.Mutex
	held map[string]*lock // by name: those of this node
}

// An answer in Redis is a byte that marks this layout, the age in eight bytes, most significant first, and the answer.
const (
	layout = 1
	head   = 1 + 8
)

// named is the end of the names of a key's answer and lock: 24 bytes of a SHA-256 (FIPS 180-4) of form and key. To find two
// with one name takes 2^96 attempts.
func (p *actionCache) named(key []byte) string {
	text := make([]byte, 0, 512)
	text = binary.AppendUvarint(text, uint64(len(p.form)))
	text = append(append(text, p.form...), key...)
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}

// cleaned asks for the moment of the last cleaning.
func (p *actionCache) cleaned(b rueidis.Builder) rueidis.Completed {
	return b.Hget().Key(p.store.cleanedKey()).Field(moment).Build()
}

// answer asks for no more bytes than an answer may have and one, whatever is there.
func (p *actionCache) answer(b rueidis.Builder, name string) rueidis.Completed {
	return b.Getrange().Key(p.answers + name).Start(0).End(int64(head + p.store.limit)).Build()
}

// look asks for both in one exchange. The replies on the connection of all callers are read by a goroutine that must be woken and wakes the
// caller, which for one that is alone is most of what it waits for. So that one has a connection for itself, as for commands that block.
func (p *actionCache) look(ctx context.Context, c *connection, name string) []rueidis.RedisResult {
	alone := c.looking.Add(1) == 1
	defer c.looking.Add(-1)
	if alone {
		cleaned := c.B().Arbitrary("HGET").Keys(p.store.cleanedKey()).Args(moment).Blocking()
		replies := c.DoMulti(ctx, cleaned, p.answer(c.B(), name))
		if replies[0].NonRedisError() == nil || ctx.Err() != nil {
			return replies
		} // the connection may have been closed since it was last used
	}
	return c.DoMulti(ctx, p.cleaned(c.B()), p.answer(c.B(), name))
}

// Get looks for an answer, in one exchange with Redis unless something was cleaned since the last one.
func (p *actionCache) Get(ctx context.Context, key []byte) (policy.Entry, error) {
	c, err := p.store.ready(ctx)
	if err != nil {
		return policy.Entry{}, err
	}
	limited, cancel := p.store.limited(ctx)
	defer cancel()
	replies := p.look(limited, c, p.named(key))
	return p.kept(ctx, c, replies[0], replies[1])
}

// kept reads the replies to looking.
func (p *actionCache) kept(ctx context.Context, c *connection, cleaned, answer rueidis.RedisResult) (policy.Entry, error) {
	if err := p.store.outcome(ctx, cmp.Or(cleaned.NonRedisError(), answer.NonRedisError())); err != nil {
		return policy.Entry{}, err
	}
	age, err := p.age(ctx, c, readMoment(cleaned))
	if err != nil {
		return policy.Entry{}, err
	}
	data, err := answer.ToString()
	if err != nil && !rueidis.IsRedisNil(err) { // another kind of value
		return policy.Entry{Generation: age, Err: fmt.Errorf("rediscache: under %s…: %w", p.answers, err)}, nil
	}
	return p.read(data, age), nil
}

// read decodes the entry under an answer's key, "" for none.
func (p *actionCache) read(data string, age uint64) policy.Entry {
	kept := policy.Entry{Generation: age}
	switch {
	case data == "":
	case len(data) < head || data[0] != layout:
		kept.Err = fmt.Errorf("rediscache: under %s… is something that no cache has written", p.answers)
	case len(data) > head+p.store.limit:
		kept.Err = fmt.Errorf("rediscache: under %s… is an answer above the limit of %d bytes", p.answers, p.store.limit)
	case binary.BigEndian.Uint64([]byte(data[1:head])) == age:
		kept.Answer, kept.Found = []byte(data[head:]), true
	}
	return kept
}

// readMoment reads the reply to HGET: 0 for none, and another than any for what no cache has written.
func readMoment(reply rueidis.RedisResult) uint64 {
	text, err := reply.ToString()
	if rueidis.IsRedisNil(err) {
		return 0
	}
	at, wrong := strconv.ParseUint(text, 10, momentBits)
	if err != nil || wrong != nil {
		return math.MaxUint64
	}
	return at
}

// Set keeps an answer.
func (p *actionCache) Set(ctx context.Context, key []byte, answer any, ttl time.Duration, age uint64) error {
	text, _ := answer.([]byte)
	if len(text) > p.store.limit {
		return fmt.Errorf("rediscache: the answer has %d bytes, and the limit is %d: %w", len(text), p.store.limit, policy.ErrNotStored)
	}
	c, err := p.store.ready(ctx)
	if err != nil {
		return err
	}
	data := make([]byte, 0, head+len(text))
	data = binary.BigEndian.AppendUint64(append(data, layout), age)
	data = append(data, text...)
	limited, cancel := p.store.limited(ctx)
	defer cancel()
	name := p.named(key)
	p.mu.Lock()
	l := p.held[name]
	p.mu.Unlock()
	ttl = max(ttl, time.Millisecond)
	if l == nil { // no caller was kept from working it out
		command := c.B().Set().Key(p.answers + name).Value(rueidis.BinaryString(data)).Px(ttl).Build()
		return p.store.outcome(ctx, c.Do(limited, command).Error())
	}
	return l.set(ctx, limited, c, p.answers+name, rueidis.BinaryString(data), ttl)
}
