package redis

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/replication"
)

// Client connects to the server or the servers at the address, with its options and what the caller has changed of them.
func (a *Address) Client(option rueidis.ClientOption) (rueidis.Client, error) {
	return rueidis.NewClient(a.askSentinels(option))
}

// Server is a client whose writes replicas confirm, as the address wants it.
type Server struct {
	rueidis.Client
	Primary *replication.Primary
}

// Open connects within ctx, for what must not be lost, and warns where the server is set to lose it. The key prefix:confirm
// is written to where replicas have nothing else to confirm. The error is the client's, or [replication.ErrNotOffered].
func Open(ctx context.Context, a *Address, option rueidis.ClientOption, log *slog.Logger) (*Server, error) {
	client, err := a.clientWithin(ctx, option)
	if err != nil {
		return nil, err
	}
	primary, err := replication.Open(ctx, client, a.Writes, a.Prefix+":confirm", log)
	if err != nil {
		client.Close()
		return nil, err
	}
	s := &Server{client, primary}
	s.warn(ctx, a.Name, log)
	return s, nil
}

// Close ends the writes that wait for replicas, then the connections.
func (s *Server) Close() {
	s.Primary.Close()
	s.Client.Close()
}

// warn logs what the server's settings put at risk. It logs nothing where the server does not show them.
func (s *Server) warn(ctx context.Context, name string, log *slog.Logger) {
	ask := s.B().ConfigGet().Parameter("appendonly", "appendfsync", "maxmemory-policy").Build()
	settings, err := s.Do(ctx, ask).AsStrMap()
	if err != nil {
		return
	}
	if policy := settings["maxmemory-policy"]; strings.HasPrefix(policy, "allkeys") {
		log.Warn("redis: this server throws away what it keeps when its memory is full; set maxmemory-policy noeviction", "address", name, "maxmemory_policy", policy)
	}
	switch {
	case settings["appendonly"] == "no":
		log.Warn("redis: this server has no append-only file: what it keeps is lost when it ends; set appendonly yes", "address", name)
	case settings["appendfsync"] != "always":
		log.Info("redis: this server may lose its last writes in a power cut; appendfsync always prevents it", "address", name, "appendfsync", settings["appendfsync"])
	}
}

// clientWithin is Client, and returns when ctx ends, which the client does not know when it connects first. A shorter limit in the options
// would hold for all connections that it makes later.
func (a *Address) clientWithin(ctx context.Context, option rueidis.ClientOption) (rueidis.Client, error) {
	var client rueidis.Client
	var err error
	made := make(chan struct{})
	go func() {
		defer close(made)
		client, err = a.Client(option)
	}()
	select {
	case <-made:
		return client, err
	case <-ctx.Done():
		go func() {
			if <-made; err == nil {
				client.Close()
			}
		}()
		return nil, fmt.Errorf("it did not answer: %w", ctx.Err())
	}
}

// limitDial has dialling end with ctx, for a client that is used once.
func limitDial(ctx context.Context, option *rueidis.ClientOption) {
	if end, ok := ctx.Deadline(); ok {
		left := max(time.Until(end), time.Millisecond)
		if option.Dialer.Timeout == 0 || option.Dialer.Timeout > left {
			option.Dialer.Timeout = left
		}
	}
}
