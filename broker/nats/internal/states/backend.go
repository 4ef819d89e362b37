package states

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/broker/nats/internal/natsstore"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/grainstore"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/secret"
)

func init() { grainstore.Register("nats", driver{}) }

const (
	goneFor = 24 * time.Hour // how long the marker of a deleted grain stays

	tokenHeader     = "Sabir-Token"
	operationHeader = "KV-Operation" // as JetStream's key-value stores mark deletions (ADR-8)
	deleted, purged = "DEL", "PURGE"
)

type driver struct{}

// backend is the bucket of one prefix.
type backend struct {
	conn    *natsstore.Connection
	stream  jetstream.Stream
	name    string // of the stream
	subject string // of all grains, up to the kind
	log     *slog.Logger

	remaking sync.Mutex // held by who looks for a bucket that the server may have lost

	mu   sync.Mutex
	link context.Context // ends when the connection is lost
	cut  context.CancelFunc
}

func (driver) Open(ctx context.Context, at *url.URL, config grainstore.Config) (grainstore.Backend, error) {
	key, err := secretOf(config.Key)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*natsstore.AnswerLimit)
	defer cancel()
	b := &backend{log: config.Log}
	b.link, b.cut = context.WithCancel(context.Background())
	b.conn, err = natsstore.Open(ctx, at, natsstore.Config{Name: config.Name, TLS: config.TLS, Secret: key, Log: config.Log, Lost: b.lost})
	if natsstore.Unreachable(err) {
		err = fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
	}
	if err != nil {
		b.lost() // it may be called for the failed connection too, at the same time
		return nil, fmt.Errorf("store: %w", err)
	}
	bucket := b.conn.Address.Prefix + "_grains"
	b.name, b.subject = "KV_"+bucket, "$KV."+bucket+"."
	if b.stream, err = b.open(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("store: %s: the bucket %s: %w", b.conn.Address.Name, bucket, err)
	}
	return b, nil
}

// secretOf derives, of the option with the cluster key, the secret that an embedded server asks for.
func secretOf(key cluster.Option) (secret.Secret, error) {
	var c joining.Config
	if key != nil {
		key.ApplyJoin(&c)
	}
	if err := errors.Join(append(c.Problems, c.Keys.Validate())...); err != nil {
		return secret.Secret{}, fmt.Errorf("the option in store.Config.Key: %w", err)
	}
	return c.BrokerSecret(), nil
}

// lost ends the requests that wait for an answer on a lost connection. The client would let them wait.
func (b *backend) lost() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut()
	b.link, b.cut = context.WithCancel(context.Background())
}

// whileLinked is ctx for as long as the connection lasts.
func (b *backend) whileLinked(ctx context.Context) (context.Context, context.CancelFunc) {
	b.mu.Lock()
	link := b.link
	b.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(link, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// open makes the stream of the bucket, or makes sure that the one that is there is fit for use.
func (b *backend) open(ctx context.Context) (jetstream.Stream, error) {
	replicas := b.conn.Address.Replicas
	stream, err := b.conn.JetStream.Stream(ctx, b.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = b.conn.JetStream.CreateStream(ctx, jetstream.StreamConfig{
			Name: b.name, Description: "states of grains", Subjects: []string{b.subject + ">"},
			Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew,
			MaxMsgsPerSubject: 1, MaxMsgs: -1, MaxBytes: -1, DenyDelete: true, AllowRollup: true, AllowMsgTTL: true,
			Replicas: max(1, replicas), AllowDirect: direct(max(1, replicas)), FirstSeq: uint64(time.Now().UnixMicro()),
		})
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another node has made it at the same moment
			stream, err = b.conn.JetStream.Stream(ctx, b.name)
		}
	}
	if err != nil {
		return nil, failure(err)
	}
	c := stream.CachedInfo().Config
	if c.MaxAge != 0 || c.Discard != jetstream.DiscardNew || c.Retention != jetstream.LimitsPolicy || c.Storage != jetstream.FileStorage {
		return nil, errors.New("it is not set up to keep grains (limits retention, discard new, no maximal age, file storage): name another prefix, or change it")
	}
	want := c
	if replicas != 0 {
		want.Replicas = replicas
	}
	want.AllowDirect, want.AllowMsgTTL = direct(want.Replicas), true
	if want.Replicas != c.Replicas || want.AllowDirect != c.AllowDirect || want.AllowMsgTTL != c.AllowMsgTTL {
		if stream, err = b.conn.JetStream.UpdateStream(ctx, want); err != nil {
			return nil, failure(err)
		}
	}
	if !stream.CachedInfo().Config.AllowMsgTTL {
		return nil, errors.New("the server is too old to let the markers of deleted grains go after a while: use nats-server 2.11 or later")
	}
	if want.Replicas == 1 && b.conn.ConnectedClusterName() != "" {
		b.log.Warn("grains: one server of the cluster keeps the states of grains, which are not there without it; name replicas=3 in the address")
	}
	return stream, nil
}

// remake makes the bucket anew where the server has lost it, as one has that starts without its files. Who has found none gets an error, and tries
// again.
func (b *backend) remake(ctx context.Context) {
	if !b.remaking.TryLock() {
		return // somebody else looks
	}
	defer b.remaking.Unlock()
	if _, err := b.conn.JetStream.Stream(ctx, b.name); !errors.Is(err, jetstream.ErrStreamNotFound) {
		return
	}
	if _, err := b.open(ctx); err != nil {
		b.log.Warn("grains: the broker has lost the states of grains, and their bucket cannot be made anew", "broker", b.conn.Address.Name, "error", err)
		return
	}
	b.log.Warn("grains: the broker has lost the states of grains; their bucket was made anew", "broker", b.conn.Address.Name)
}

// lacking reports whether nobody at the server answers for the bucket.
func lacking(err error) bool {
	return errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, jetstream.ErrStreamNotFound)
}

// direct reports whether any server that has the bucket may answer reads, which is faster. With replicas it may be one that
// is behind.
func direct(replicas int) bool { return replicas == 1 }

func (b *backend) subjectOf(kind, key string) string { return b.subject + kind + "." + token(key) }

func (b *backend) Read(ctx context.Context, kind, key string) (grainstore.Slot, error) {
	ctx, done := b.whileLinked(ctx)
	defer done()
	if err := b.disconnected(); err != nil {
		return grainstore.Slot{}, err
	}
	message, err := b.stream.GetLastMsgForSubject(ctx, b.subjectOf(kind, key))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return grainstore.Slot{}, nil
	}
	if lacking(err) {
		b.remake(ctx)
	}
	if err != nil {
		return grainstore.Slot{}, failure(err)
	}
	slot := grainstore.Slot{Version: message.Sequence, Token: grainstore.ParseToken(message.Header.Get(tokenHeader)), State: message.Data}
	operation := message.Header.Get(operationHeader)
	if operation == deleted || operation == purged || message.Header.Get(jetstream.MarkerReasonHeader) != "" {
		slot.Gone, slot.State = true, nil
	}
	return slot, nil
}

func (b *backend) Write(ctx context.Context, kind, key string, expect uint64, slot grainstore.Slot) (uint64, error) {
	ctx, done := b.whileLinked(ctx)
	defer done()
	message := &nats.Msg{Subject: b.subjectOf(kind, key), Data: slot.State, Header: nats.Header{tokenHeader: {slot.Token.String()}}}
	how := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(expect), jetstream.WithExpectStream(b.name), jetstream.WithRetryAttempts(0)}
	if slot.Gone {
		message.Data = nil
		message.Header.Set(operationHeader, deleted)
		how = append(how, jetstream.WithMsgTTL(goneFor))
	}
	if err := b.disconnected(); err != nil {
		return 0, err
	}
	full := b.conn.Exhausted() // a deletion makes room
	if !slot.Gone {
		full = b.conn.Claim(len(slot.State))
	}
	if full != nil {
		return 0, fmt.Errorf("%w: %w", store.ErrStoreFull, full)
	}
	ctx, stop := b.conn.WhileSpace(ctx)
	defer stop()
	ack, err := b.conn.JetStream.PublishMsg(ctx, message, how...) // it is copied into the connection's buffer before this returns
	if errors.Is(err, nats.ErrMaxPayload) {
		return 0, fmt.Errorf("%w: it has %d bytes; the server's max_payload, with which its operator may allow more, is %d", grainstore.ErrStateTooLarge, len(slot.State), b.conn.MaxPayload())
	}
	if lacking(err) {
		b.remake(ctx)
	}
	if err != nil {
		return 0, failure(err)
	}
	return ack.Sequence, nil
}

// Check asks the servers for the bucket, which needs a leader.
func (b *backend) Check(ctx context.Context) error {
	if err := b.conn.Full(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrStoreFull, err)
	}
	if err := b.disconnected(); err != nil {
		return err
	}
	_, err := b.conn.JetStream.Stream(ctx, b.name)
	if lacking(err) {
		b.remake(ctx)
	}
	if err = failure(err); errors.Is(err, store.ErrOutcomeUnknown) { // that was only a question
		return fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
	}
	return err
}

// disconnected is the error of a request that is not sent because there is no connection at that moment.
func (b *backend) disconnected() error {
	if err := b.conn.Disconnected(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
	}
	return nil
}

func (b *backend) Close() error {
	b.conn.Close() // ends what waits, by way of lost
	b.mu.Lock()
	b.cut()
	b.mu.Unlock()
	return nil
}
