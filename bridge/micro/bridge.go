package micro

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/internal/inbound"
	"github.com/sabir-go/sabir/internal/requestid"
)

// bridge is a node as a member of a go-micro project. As an extension it is there before the services, so that these can call go-micro's
// when they start; it is called from the start of its gateway until that stops.
type bridge struct {
	config   Config
	format   format // of calls to services of go-micro
	node     *sabir.Node
	instance string // of this run, in the ids under which the registry has the services

	ctx     context.Context // ends with the bridge
	cancel  context.CancelFunc
	running sync.WaitGroup

	streaming  context.Context // ends before the services do
	endStreams context.CancelFunc

	listener net.Listener // nil where nobody can call
	address  string       // that the registry names
	server   *http.Server
	opened   atomic.Bool
	exposed  atomic.Pointer[exposed]
	bodies   atomic.Int64  // bytes of the requests and events that are served
	serving  inbound.Calls // events
	updating sync.Mutex    // held by update
	unheard  map[string]bool

	registered    registered
	queues        *queues // nil without a broker
	subscriptions subscriptions
	posting       inbound.Calls // events that are on their way to HTTP brokers

	client *http.Client
	http2  *http.Client // for servers of gRPC
	peers  peers
	calls  atomic.Uint64 // ids
	mdns   *mdns         // nil without
	drops  inbound.Drops
}

func newBridge(c Config) *bridge {
	b := &bridge{config: c}
	b.peers.known = make(map[string]*peer)
	b.exposed.Store(&exposed{})
	return b
}

// Name implements sabir.Extension and gateway.Gateway.
func (b *bridge) Name() string { return "micro" }

// Start begins to listen, and finds the services of go-micro.
func (b *bridge) Start(ctx context.Context, n *sabir.Node) error {
	b.node, b.instance = n, requestid.New()[:8]
	if err := b.config.check(); err != nil {
		return err
	}
	b.format, _ = b.config.format()
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.streaming, b.endStreams = context.WithCancel(b.ctx)
	b.client, b.http2 = newClients()
	if err := b.begin(ctx); err != nil {
		b.cancel()
		b.running.Wait()
		err = errors.Join(err, b.disconnect())
		b.serving.Close()
		if b.listener != nil {
			err = errors.Join(err, b.listener.Close())
		}
		return err
	}
	return nil
}

func (b *bridge) begin(ctx context.Context) error {
	if err := b.listenHTTP(); err != nil {
		return err
	}
	if err := b.connect(ctx); err != nil {
		return err
	}
	for name, s := range b.config.Services {
		for _, address := range s.Addresses {
			address, grpc := strings.CutPrefix(address, grpcScheme)
			r := &record{id: name + "@" + address, service: name, address: address, endpoints: s.Endpoints, static: true}
			if grpc {
				r.metadata = map[string]string{"protocol": "grpc"}
			}
			b.putPeer(r)
		}
	}
	if b.config.MDNS {
		m, err := openMDNS(b)
		if err != nil {
			return fmt.Errorf("micro.Config: MDNS: %w", err)
		}
		b.mdns = m
		b.running.Go(m.take)
		b.running.Go(m.takeAnswers)
		b.running.Go(m.ask)
	}
	var looked []<-chan struct{}
	for _, r := range b.config.Registries {
		looked = append(looked, b.runRegistry(r))
	}
	b.running.Go(b.probe)
	b.running.Go(b.follow)
	b.settle(ctx, looked)
	return nil
}

// registryTime bounds the wait for registries that do not answer.
const registryTime = 2 * time.Second

// answerTime bounds the wait for answers over mDNS. Nodes of go-micro wait for as long twice: for the names of services, and for their nodes.
const answerTime = 200 * time.Millisecond

// settle waits until those that are there have been found, so that services can call them when they start.
func (b *bridge) settle(ctx context.Context, looked []<-chan struct{}) {
	if b.config.MDNS {
		select {
		case <-time.After(answerTime):
		case <-ctx.Done():
		}
	}
	limited, cancel := context.WithTimeout(ctx, registryTime)
	defer cancel()
	for _, one := range looked {
		select {
		case <-one:
		case <-limited.Done():
		}
	}
	for _, p := range b.peers.list() {
		select {
		case <-p.looked:
		case <-ctx.Done():
		}
	}
}

// open lets calls in.
func (b *bridge) open() error {
	b.opened.Store(true)
	b.update()
	if b.listener == nil {
		return nil
	}
	b.node.Log().Info("serves clients of go-micro", "node", b.node.ID(), "address", b.address)
	b.running.Go(func() {
		if err := httpstrict.Serve(b.server, b.listener); !errors.Is(err, http.ErrServerClosed) {
			b.node.Log().Error("clients of go-micro are not served any more", "node", b.node.ID(), "address", b.address, "error", err)
		}
	})
	return nil
}

// close takes no more calls, and waits for those that run.
func (b *bridge) close(ctx context.Context) error {
	b.opened.Store(false)
	b.update()
	b.endStreams()
	err := b.serving.Wait(ctx)
	limited, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	b.posting.Wait(limited) // those that are left are lost
	if b.listener == nil {
		return err
	}
	return errors.Join(err, b.server.Shutdown(ctx))
}

// leaveLimit bounds the wait for subscribers that have not taken their events.
const leaveLimit = 2 * time.Second

// Stop leaves.
func (b *bridge) Stop(context.Context) error {
	b.opened.Store(false)
	b.update()
	b.cancel()
	b.endStreams() // for the analysis of contexts; it has ended with b.ctx
	var err error
	if b.listener != nil {
		err = b.server.Close()
		b.listener.Close() // where the gateway was never started
	}
	if b.mdns != nil {
		b.mdns.close()
	}
	b.running.Wait()
	b.posting.Wait(context.Background()) // they have ended with b.ctx
	err = errors.Join(err, b.disconnect())
	b.serving.Close()
	b.dropPeers()
	b.client.CloseIdleConnections()
	b.http2.CloseIdleConnections()
	return err
}

// follow announces what is exposed whenever that has changed.
func (b *bridge) follow() {
	for {
		next := b.node.Changed()
		b.update()
		select {
		case <-next:
		case <-b.ctx.Done():
			return
		}
	}
}

// drop logs what was refused.
func (b *bridge) drop(what, from string, err error) {
	b.drops.Note(b.node.Log(), what, "node", b.node.ID(), "from", from, "error", err)
}
