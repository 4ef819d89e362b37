package replication

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

const (
	// waitLimit is the time for which the server waits for replicas at once. The number of replicas may be out of date, so a
	// replica that has just died delays a write by as much.
	waitLimit = time.Second
	// answerLimit is the time for the primary's answer, on top of waitLimit.
	answerLimit = 4 * time.Second
	// maxWaiting is the number of writes that wait at once, each on its own connection: the commands behind a WAIT wait too.
	maxWaiting = 32
	// probeEvery is the interval at which a server without replicas is asked whether it has got one.
	probeEvery = 50 * time.Millisecond
	// maxHistories bounds the histories that are remembered: one for each primary of a cluster.
	maxHistories = 4096
	slots        = 16384 // of a Redis Cluster
)

// Primary does writes that are confirmed. All methods may be called from any number of goroutines at once.
type Primary struct {
	client  rueidis.Client
	setting Setting
	mark    string // a key of the caller's that Primary may write
	waiting chan struct{}
	ended   context.Context
	end     context.CancelFunc

	wanted    atomic.Int64   // replicas, by Auto, as of the last answer
	bySlot    []atomic.Int64 // the same of the primary of each slot, in a cluster: who waits for replicas of one that has none waits in vain
	lastProbe atomic.Int64   // when a server without replicas was asked last, in nanoseconds since begun

	mu        sync.Mutex
	histories map[string]bool // replication ids of servers that had replicas
}

// ErrNotOffered means that the server cannot do what the setting wants.
var ErrNotOffered = errors.New("not offered by this server")

// Open looks at the server of a client, which stays the caller's. A server that does not report whether it has replicas is not
// waited for, and the log records that. With Setting.Fsync a server that does not know
// WAITAOF is refused with [ErrNotOffered]. The key mark is written,
// with a life of a second, where something has to be that replicas can confirm.
func Open(ctx context.Context, client rueidis.Client, setting Setting, mark string, log *slog.Logger) (*Primary, error) {
	p := &Primary{client: client, setting: setting, mark: mark, waiting: make(chan struct{}, maxWaiting), histories: make(map[string]bool)}
	p.ended, p.end = context.WithCancel(context.Background())
	if p.clustered() {
		p.bySlot = make([]atomic.Int64, slots)
	}
	if err := p.look(ctx, log); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

func (p *Primary) look(ctx context.Context, log *slog.Logger) error {
	if p.setting.Fsync {
		known, err := p.client.Do(ctx, p.client.B().Arbitrary("COMMAND", "INFO", "WAITAOF").Build()).ToArray()
		if err != nil {
			return err
		}
		if len(known) != 1 || known[0].IsNil() {
			return fmt.Errorf("fsync=true is %w: it needs the command WAITAOF, of Redis 7.2 or later", ErrNotOffered)
		}
	}
	if p.setting.Replicas != Auto {
		return nil
	}
	if p.clustered() { // each of its primaries has replicas of its own: see [Primary.Do]
		return nil
	}
	answers := p.client.DoMulti(ctx, p.client.B().Role().Build(), p.client.B().Info().Section("replication").Build())
	err := cmp.Or(answers[0].Error(), answers[1].Error())
	if _, said := rueidis.IsRedisErr(err); said {
		log.Warn("redis: this server does not say whether it has replicas, and is not waited for: what it acknowledges may be lost when a "+
			"replica takes over; name replicas=1 in the address, or 0 to be rid of this message", "error", err)
		p.setting.Replicas = 0
		return nil
	}
	if err != nil {
		return err
	}
	text, _ := answers[1].ToString()
	_, _ = p.requiredReplicas(text) // of a server that is a replica now nothing is known yet, and it takes no writes
	return nil
}

// Close ends the writes that wait.
func (p *Primary) Close() { p.end() }

func (p *Primary) clustered() bool { return p.client.Mode() == rueidis.ClientModeCluster }

// Waits reports whether writes are confirmed by replicas now. If so, reads should be too: see the invariant of the caller.
func (p *Primary) Waits() bool {
	return p.setting.Replicas > 0 || p.setting.Replicas == Auto && (p.clustered() || p.wanted.Load() > 0)
}

// Unconfirmed is the error of writes that the primary has done and too few replicas are known to have. They may be lost when a
// replica takes over, or not.
type Unconfirmed struct {
	Have, Want int
	Err        error // why that is not known; nil where the replicas were too slow
}

func (e *Unconfirmed) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("the primary has done it, and that replicas have it is not known (%v)", e.Err)
	}
	return fmt.Sprintf("the primary has done it, and %d replicas of the %d that must have it say that they do; it would be lost if another took over "+
		"(replicas in the address says how many there must be, 0 none)", e.Have, e.Want)
}

func (e *Unconfirmed) Unwrap() error { return e.Err }

// Do sends commands, in their order on one connection, and returns when each is answered and all are confirmed. Their answers
// are in results in any case. An error, always an [*Unconfirmed], means that commands which were done are not confirmed; it
// is nil where all of them failed on the way, which the results show.
//
// WAIT covers the writes of its own connection. A command that writes nothing, such as a script that finds nothing to do, is
// not confirmed. In a Redis Cluster the keys of all commands must be in one slot.
func (p *Primary) Do(ctx context.Context, commands ...rueidis.Completed) (results []rueidis.RedisResult, err error) {
	if !p.Waits() {
		return p.doAlone(ctx, commands)
	}
	ctx, cancel := context.WithTimeout(ctx, waitLimit+answerLimit)
	defer cancel()
	stop := context.AfterFunc(p.ended, cancel)
	defer stop()
	select {
	case p.waiting <- struct{}{}:
		defer func() { <-p.waiting }()
	case <-ctx.Done():
		return failed(len(commands), ctx.Err()), nil
	}
	// A client that follows redirections by itself could send a write to another server than the WAIT behind it.
	_ = p.client.Dedicated(func(c rueidis.DedicatedClient) error {
		results, err = p.doConfirmed(ctx, c, commands)
		if err != nil {
			c.Close() // the next one is of the server that is there then
		}
		return nil
	})
	return results, err
}

func failed(n int, err error) []rueidis.RedisResult {
	results := make([]rueidis.RedisResult, n)
	for i := range results {
		results[i] = rueidis.NewErrorResult(err)
	}
	return results
}

var begun = time.Now()

// probeDue reports whether it is time to ask a server without replicas whether it has some now.
func (p *Primary) probeDue() bool {
	now, last := int64(time.Since(begun)), p.lastProbe.Load()
	return p.setting.Replicas == Auto && now-last >= int64(probeEvery) && p.lastProbe.CompareAndSwap(last, now)
}

// doAlone sends commands to a server without replicas. If it is time for that, it also asks whether the server has some now, and
// then waits for them.
func (p *Primary) doAlone(ctx context.Context, commands []rueidis.Completed) ([]rueidis.RedisResult, error) {
	n := len(commands)
	switch {
	case p.probeDue():
	case n == 1:
		return []rueidis.RedisResult{p.client.Do(ctx, commands[0])}, nil
	default:
		return p.client.DoMulti(ctx, commands...), nil
	}
	results := p.client.DoMulti(ctx, append(commands[:n:n], p.client.B().Role().Build())...)
	online, err := onlineByRole(results[n])
	switch {
	case results[n].NonRedisError() != nil: // and so have the commands
		return results[:n], nil
	case err != nil:
		return results[:n], &Unconfirmed{Err: err}
	case online > 0:
		p.wanted.Store(int64(online))
		marks, err := p.Do(ctx, p.client.B().Set().Key(p.mark).Value("").Px(time.Second).Build()) // behind the commands, for all that they wrote
		if err == nil {
			if err = marks[0].Error(); err != nil {
				err = &Unconfirmed{Want: online, Err: err}
			}
		}
		return results[:n], err
	}
	return results[:n], nil
}

// doConfirmed sends the commands and the WAIT that confirms them in one batch on one connection, as WAIT covers that connection only.
func (p *Primary) doConfirmed(ctx context.Context, c rueidis.DedicatedClient, commands []rueidis.Completed) ([]rueidis.RedisResult, error) {
	n, asked := len(commands), p.setting.Replicas
	all := commands[:n:n]
	last := &p.wanted
	if p.bySlot != nil {
		last = &p.bySlot[commands[0].Slot()%slots]
	}
	if asked == Auto {
		asked = int(last.Load())
		all = append(all, c.B().Info().Section("replication").Build())
	}
	results := c.DoMulti(ctx, append(all, p.wait(ctx, c, asked))...)
	have, err := p.confirmed(results[len(results)-1])
	if results[0].NonRedisError() != nil {
		return results[:n], nil
	}
	if err != nil {
		return results[:n], &Unconfirmed{Err: err}
	}
	want := asked
	if p.setting.Replicas == Auto {
		text, err := results[n].ToString()
		if err == nil {
			want, err = p.requiredReplicas(text)
		}
		if err != nil {
			return results[:n], &Unconfirmed{Err: err}
		}
		last.Store(int64(want))
	}
	if have < want && asked < want { // some have come since
		if have, err = p.confirmed(c.Do(ctx, p.wait(ctx, c, want))); err != nil {
			return results[:n], &Unconfirmed{Err: err}
		}
	}
	if have < want {
		return results[:n], &Unconfirmed{Have: have, Want: want}
	}
	return results[:n], nil
}

// wait is the command that waits, shorter than the caller does: so that the caller learns how many replicas there were. A Redis with
// nothing else to do looks ten times a second for expired waits.
func (p *Primary) wait(ctx context.Context, c rueidis.DedicatedClient, replicas int) rueidis.Completed {
	limit := waitLimit
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		limit = min(limit, max(left/2, left-200*time.Millisecond))
	}
	ms := max(1, limit.Milliseconds())
	if p.setting.Fsync {
		return c.B().Waitaof().Numlocal(1).Numreplicas(int64(replicas)).Timeout(ms).Build()
	}
	return c.B().Wait().Numreplicas(int64(replicas)).Timeout(ms).Build()
}

// confirmed reads how many replicas have the writes.
func (p *Primary) confirmed(result rueidis.RedisResult) (int, error) {
	if !p.setting.Fsync {
		n, err := result.AsInt64()
		return int(n), err
	}
	counts, err := result.AsIntSlice()
	if err == nil && (len(counts) != 2 || counts[0] < 1) {
		err = errors.New("the primary has not synced its append-only file")
	}
	if err != nil {
		return 0, err
	}
	return int(counts[1]), nil
}

// requiredReplicas returns how many replicas must have a write at a server, by Auto. See the package's description: this is the one place
// where a server without replicas may be trusted, and a change here can lose what was acknowledged.
func (p *Primary) requiredReplicas(text string) (want int, err error) {
	s, err := readStatus(text)
	if err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case s.online > 0:
		want = s.online
		if len(p.histories) >= maxHistories {
			clear(p.histories)
		}
		p.histories[s.id] = true
	case p.histories[s.id]: // it had some
		want = 1
	case p.histories[s.before]: // it was one, and was promoted
		want = 0
	case len(p.histories) > 0 || p.wanted.Load() > 0: // perhaps one that had some and was restarted
		want = 1
	}
	p.wanted.Store(int64(want))
	return want, nil
}

// status is a server's report of its replication.
type status struct {
	online     int
	id, before string // of its history, and of the one that it continues since it was promoted
}

func readStatus(text string) (s status, err error) {
	for line := range strings.SplitSeq(text, "\n") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case name == "role" && value != "master":
			return s, fmt.Errorf("the server has become a replica (%s)", value)
		case name == "master_replid":
			s.id = value
		case name == "master_replid2":
			s.before = value
		case strings.HasPrefix(name, "slave") && strings.Contains(value, "state=online") && !strings.Contains(value, ",port=0,"):
			s.online++ // without a port it is a program that reads along, such as redis-cli --replica, and confirms nothing
		}
	}
	if s.id == "" {
		return s, errors.New("INFO replication says something else")
	}
	return s, nil
}

// onlineByRole reads the answer to ROLE, which has the replicas that are online and costs the server less than INFO.
func onlineByRole(result rueidis.RedisResult) (int, error) {
	parts, err := result.ToArray()
	if err != nil {
		return 0, err
	}
	role := ""
	if len(parts) > 0 {
		role, _ = parts[0].ToString()
	}
	if role != "master" || len(parts) != 3 {
		return 0, fmt.Errorf("the server is no primary: its role is %s", strconv.Quote(role))
	}
	replicas, err := parts[2].ToArray()
	if err != nil {
		return 0, err
	}
	online := 0
	for _, replica := range replicas { // address, port and offset
		fields, err := replica.AsStrSlice()
		if err != nil {
			return 0, err
		}
		if len(fields) > 1 && fields[1] != "0" { // as in readStatus
			online++
		}
	}
	return online, nil
}
