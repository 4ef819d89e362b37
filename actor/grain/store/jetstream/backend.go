package jetstream

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/transport"
	natstransport "github.com/sabir-go/sabir/transport/nats"
)

func init() { store.Register("nats", driver{}) }

const (
	patience = 5 * time.Second // for an answer while the store is opened
	goneFor  = 24 * time.Hour  // how long the marker of a deleted grain stays

	tokenHeader     = "Sabir-Token"
	operationHeader = "KV-Operation" // as JetStream's key-value stores mark deletions (ADR-8)
	deleted, purged = "DEL", "PURGE"
)

type driver struct{}

// backend is a connection to the servers.
type backend struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	stream  jetstream.Stream
	name    string // of the stream
	subject string // of all grains, up to the kind
	release func()

	mu   sync.Mutex
	link context.Context // ends when the connection is lost
	cut  context.CancelFunc
}

func (driver) Open(ctx context.Context, at *url.URL, config store.Config) (store.Backend, error) {
	prefix, replicas, own, err := parameters(at)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	b := &backend{name: "KV_" + prefix + "_grains", subject: "$KV." + prefix + "_grains."}
	b.link, b.cut = context.WithCancel(context.Background())
	if err := b.connect(ctx, own, config); err != nil {
		b.cut()
		return nil, err
	}
	if err := b.bucket(ctx, replicas); err != nil {
		b.Close()
		if errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
			return nil, fmt.Errorf("store: the server at %s runs without JetStream: give it a jetstream block, or nats://embedded a store=folder: %w", at.Redacted(), err)
		}
		return nil, fmt.Errorf("store: %s: the bucket %s: %w", at.Redacted(), strings.TrimPrefix(b.name, "KV_"), err)
	}
	return b, nil
}

// parameters takes those of this package out of the address. The rest is for the connection, which refuses what it does not
// know.
func parameters(at *url.URL) (prefix string, replicas int, own *url.URL, err error) {
	query, err := url.ParseQuery(at.RawQuery)
	if err != nil {
		return "", 0, nil, fmt.Errorf("store: the address %q has parameters that cannot be read: %w", at.Redacted(), err)
	}
	prefix = "sabir"
	if query.Has("prefix") {
		prefix = query.Get("prefix")
	}
	if prefix == "" || len(prefix) > 64 || strings.ContainsFunc(prefix, func(c rune) bool { return c > 127 || !plain(byte(c)) }) {
		return "", 0, nil, fmt.Errorf("store: the address %q has the prefix %q: want up to 64 letters, digits, '_' and '-'", at.Redacted(), prefix)
	}
	if query.Has("replicas") {
		replicas, err = strconv.Atoi(query.Get("replicas"))
		if err != nil || replicas < 1 || replicas > 5 {
			return "", 0, nil, fmt.Errorf("store: the address %q has replicas=%s: want 1 to 5", at.Redacted(), query.Get("replicas"))
		}
	}
	query.Del("prefix")
	query.Del("replicas")
	rest := *at
	rest.RawQuery = query.Encode()
	return prefix, replicas, &rest, nil
}

func (b *backend) connect(ctx context.Context, at *url.URL, config store.Config) (err error) {
	log := config.Logger()
	b.conn, b.release, err = natstransport.Connect(ctx, at, transport.Config{Name: config.Name, TLS: config.TLS, Secret: config.Secret, Keyed: true}, // the broker's own users keep others out
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			b.lost()
			if err != nil {
				log.Warn("grains: connection to the store lost", "store", at.Redacted(), "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			log.Info("grains: connection to the store is back", "store", at.Redacted())
		}))
	switch {
	case err == nil:
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, nats.ErrNoServers), errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("store: %w: %w", store.ErrAway, err)
	default:
		return fmt.Errorf("store: %w", err)
	}
	if b.js, err = jetstream.New(b.conn, jetstream.WithDefaultTimeout(patience)); err != nil {
		b.conn.Close()
		b.release()
	}
	return err
}

// lost ends what waits for an answer on a connection that is no more: the client would have it wait.
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

// bucket makes the stream, or sees to it that the one that is there is fit for use.
func (b *backend) bucket(ctx context.Context, replicas int) error {
	if _, err := b.js.AccountInfo(ctx); errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		return err
	} else if err != nil {
		return failure(err)
	}
	stream, err := b.js.Stream(ctx, b.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = b.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: b.name, Description: "states of grains", Subjects: []string{b.subject + ">"},
			Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew,
			MaxMsgsPerSubject: 1, MaxMsgs: -1, MaxBytes: -1, DenyDelete: true, AllowRollup: true, AllowMsgTTL: true,
			Replicas: max(1, replicas), AllowDirect: direct(max(1, replicas)), FirstSeq: uint64(time.Now().UnixMicro()),
		})
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another node has made it at the same moment
			stream, err = b.js.Stream(ctx, b.name)
		}
	}
	if err != nil {
		return failure(err)
	}
	c := stream.CachedInfo().Config
	if c.MaxAge != 0 || c.Discard != jetstream.DiscardNew || c.Retention != jetstream.LimitsPolicy || c.Storage != jetstream.FileStorage {
		return errors.New("it is not set up to keep grains (limits retention, discard new, no maximal age, file storage): name another prefix, or change it")
	}
	want := c
	if replicas != 0 {
		want.Replicas = replicas
	}
	want.AllowDirect, want.AllowMsgTTL = direct(want.Replicas), true
	if want.Replicas != c.Replicas || want.AllowDirect != c.AllowDirect || want.AllowMsgTTL != c.AllowMsgTTL {
		if stream, err = b.js.UpdateStream(ctx, want); err != nil {
			return failure(err)
		}
	}
	if !stream.CachedInfo().Config.AllowMsgTTL {
		return errors.New("the server is too old to let the markers of deleted grains go after a while: use nats-server 2.11 or later")
	}
	b.stream = stream
	return nil
}

// direct tells whether any server that has the bucket may answer reads, which is faster. With replicas it may be one that
// is behind.
func direct(replicas int) bool { return replicas == 1 }

func (b *backend) subjectOf(kind, key string) string { return b.subject + kind + "." + token(key) }

func (b *backend) Read(ctx context.Context, kind, key string) (store.Slot, error) {
	ctx, done := b.whileLinked(ctx)
	defer done()
	if !b.conn.IsConnected() {
		return store.Slot{}, errNoLink
	}
	message, err := b.stream.GetLastMsgForSubject(ctx, b.subjectOf(kind, key))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return store.Slot{}, nil
	}
	if err != nil {
		return store.Slot{}, failure(err)
	}
	slot := store.Slot{Version: message.Sequence, Token: store.ParseToken(message.Header.Get(tokenHeader)), State: message.Data}
	operation := message.Header.Get(operationHeader)
	if operation == deleted || operation == purged || message.Header.Get(jetstream.MarkerReasonHeader) != "" {
		slot.Gone, slot.State = true, nil
	}
	return slot, nil
}

func (b *backend) Write(ctx context.Context, kind, key string, expect uint64, slot store.Slot) (uint64, error) {
	ctx, done := b.whileLinked(ctx)
	defer done()
	message := &nats.Msg{Subject: b.subjectOf(kind, key), Data: slot.State, Header: nats.Header{tokenHeader: {slot.Token.String()}}}
	how := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(expect), jetstream.WithExpectStream(b.name), jetstream.WithRetryAttempts(0)}
	if slot.Gone {
		message.Data = nil
		message.Header.Set(operationHeader, deleted)
		how = append(how, jetstream.WithMsgTTL(goneFor))
	}
	if !b.conn.IsConnected() {
		return 0, errNoLink
	}
	ack, err := b.js.PublishMsg(ctx, message, how...) // it is copied into the connection's buffer before this returns
	if errors.Is(err, nats.ErrMaxPayload) {
		return 0, fmt.Errorf("%w: it has %d bytes; the server's max_payload, with which its operator may allow more, is %d", store.ErrTooLarge, len(slot.State), b.conn.MaxPayload())
	}
	if err != nil {
		return 0, failure(err)
	}
	return ack.Sequence, nil
}

func (b *backend) Close() error {
	b.conn.Close() // ends what waits, by way of lost
	b.mu.Lock()
	b.cut()
	b.mu.Unlock()
	b.release()
	return nil
}
