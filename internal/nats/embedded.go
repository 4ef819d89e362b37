package nats

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/transport"
)

// Names of embedded servers begin so, which distinguishes them from others.
const (
	meshName  = "sabir-mesh-"
	storeName = "sabir-store-"
)

// embedded is this process's part in an address with an embedded server: mostly a server, or none where another process
// has the store.
type embedded struct {
	key     string
	secret  [sha256.Size]byte // the hash of that of its first use
	address *Address
	config  transport.Config
	listen  netip.AddrPort // where the first server for the address listens
	port    uint16         // for clients
	uses    int            // guarded by shared's lock

	mu         sync.Mutex
	server     *server.Server // nil while another process's serves
	lock       *folderLock    // of the store
	ended      bool
	stop       context.CancelFunc // ends inherit or mend; nil where neither runs
	background chan struct{}      // closed when that has ended
}

// shared has all embedded servers of the process, by the settings for which one server is shared.
var shared = struct {
	sync.Mutex
	servers map[string]*embedded
}{servers: make(map[string]*embedded)}

// embed returns the embedded server for the address, started where this is its first use. drop must be called for each. One with a
// store is for all uses in the process, as a folder has one owner. Of those without, each node has its own, in one mesh.
func embed(ctx context.Context, a *Address, config transport.Config) (*embedded, error) {
	hash := sha256.Sum256(config.Secret.Bytes()) // no secret is in a map's key
	key := a.Server()
	if a.Store == "" {
		key += fmt.Sprintf("\n%s\n%x", config.Name, hash)
	}
	shared.Lock()
	defer shared.Unlock()
	if e := shared.servers[key]; e != nil {
		if e.secret != hash {
			return nil, fmt.Errorf("%s: the server that this process has there %w", a.Name, otherKey(!e.config.Secret.None(), config))
		}
		e.uses++
		return e, nil
	}
	e := &embedded{key: key, secret: hash, address: a, config: config, uses: 1}
	if err := e.start(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	shared.servers[key] = e
	return e, nil
}

// drop ends the server with its last use.
func (e *embedded) drop() {
	shared.Lock()
	defer shared.Unlock()
	if e.uses--; e.uses > 0 {
		return
	}
	delete(shared.servers, e.key)
	e.mu.Lock()
	e.ended = true
	stop, background := e.stop, e.background
	e.mu.Unlock()
	if stop != nil {
		stop()
		<-background
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server != nil {
		e.server.Shutdown()
		e.server.WaitForShutdown()
	}
	e.lock.release()
}

func (e *embedded) start(ctx context.Context) error {
	at := &url.URL{Scheme: e.address.Scheme, Host: net.JoinHostPort(e.address.Host, strconv.Itoa(e.address.Port))}
	var err error
	if e.listen, err = (transport.Config{Keyed: true}).ListenAddr(ctx, at); err != nil {
		return err
	}
	if !e.listen.Addr().IsLoopback() && (!e.config.Keyed || e.config.Secret.None()) {
		return fmt.Errorf("refusing to listen on %s, where other machines could connect without proof: set a cluster key, or leave out host=", e.listen.Addr())
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	begun, again := time.Now(), time.NewTicker(retryEvery)
	defer again.Stop()
	for {
		err := e.try(ctx)
		routes, alone := errors.AsType[routePortError](err)
		switch {
		case alone && time.Since(begun) >= portWait:
			return fmt.Errorf("the port %d is taken, where the server would listen for routes of others: use another port, as in nats://embedded:%d: %w",
				e.address.RoutePort(), e.listen.Port()+1, routes.error)
		case !alone && !errors.Is(err, errAgain):
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", err, ctx.Err())
		}
	}
}

// retryEvery is the time between attempts to start while another process starts or ends at the same ports.
const retryEvery = 50 * time.Millisecond

// startLimit is the time that a server may take to start, which is work and not waiting: longer than dialling may, for a machine
// that is busy.
const startLimit = 15 * time.Second

// answerWait is the time that the server that has the port may take to answer: longer than it does on a machine that is busy.
const answerWait = 3 * time.Second

// portWait is the time that one of the two ports may be taken without the other, by a starting or ending server.
const portWait = 2 * time.Second

// errAgain means that the server at the port is about to stop, or to start.
var errAgain = errors.New("the port is taken, but nobody answers there")

// try starts the first server for the address, or does what is to be done where that runs.
func (e *embedded) try(ctx context.Context) error {
	err := e.startFirst(ctx)
	_, alone := errors.AsType[routePortError](err)
	if alone || !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, errLocked) || e.listen.Port() == 0 {
		return err
	}
	first, err := e.first(ctx)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF):
		return errAgain // it ends, wherever in the connection's beginning that showed
	case err != nil:
		return err
	case strings.HasPrefix(first, storeName):
		e.port = e.listen.Port()
		return nil // served by the other process
	case e.address.Store != "":
		return fmt.Errorf("an embedded server without a store has the port %d: give all processes the same address", e.listen.Port())
	}
	s, err := startServer(ctx, e.address, e.config, e.listen, false, nil)
	if err != nil {
		return err
	}
	awaitRoute(ctx, s)
	e.runs(s)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inBackground(ctx, e.inherit)
	return nil
}

func (e *embedded) startFirst(ctx context.Context) error {
	if e.address.Store != "" {
		e.mu.Lock()
		defer e.mu.Unlock()
		if err := e.openStore(ctx); err != nil {
			return err
		}
		e.port = portOf(e.server)
		return nil
	}
	s, err := startServer(ctx, e.address, e.config, e.listen, true, nil)
	if err == nil {
		e.runs(s)
	}
	return err
}

// inBackground runs what goes on beside the server until drop. The caller has e.mu.
func (e *embedded) inBackground(ctx context.Context, run func(context.Context)) {
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	e.stop, e.background = stop, ended
	go func() {
		defer close(ended)
		run(lasting)
	}()
}

// openStore has this process own the store. The caller has e.mu.
func (e *embedded) openStore(ctx context.Context) error {
	lock, err := lockFolder(e.address.Store)
	if err != nil {
		return err
	}
	if err := removeZeroed(e.address.Store); err != nil {
		lock.release()
		return err
	}
	store := storeFolderOf(e.address)
	store.folder.Mend() // what another server met there is over
	s, err := startServer(ctx, e.address, e.config, e.listen, true, store.failed)
	if err != nil {
		lock.release()
		return err
	}
	if err := unreadStream(s, e.address.Store); err != nil {
		s.Shutdown()
		s.WaitForShutdown()
		lock.release()
		return err
	}
	e.server, e.lock = s, lock
	e.inBackground(ctx, func(ctx context.Context) { store.mend(ctx, s) })
	return nil
}

// runs notes the server.
func (e *embedded) runs(s *server.Server) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.server = s
	e.port = portOf(s)
}

func portOf(s *server.Server) uint16 { return uint16(s.Addr().(*net.TCPAddr).Port) }

// clientURL is the server's address for clients, as a use with the configuration tells it.
func (e *embedded) clientURL(config transport.Config) string {
	addr, err := config.AdvertisedAddr("nats", netip.AddrPortFrom(e.listen.Addr(), e.port))
	if err != nil {
		return ""
	}
	return addr
}

// otherKey says that a server, which asks for a cluster key or not, has another than the use with the configuration, and what to do.
func otherKey(asks bool, config transport.Config) error {
	what := "wants another cluster key"
	switch {
	case !asks:
		what = "was started without the cluster key"
	case config.Secret.None():
		what = "wants a cluster key, and none was given"
	}
	return errors.New(what + ": give the same to all uses of the address, by cluster.Config.Key to sabir.Join and by Key in store.Config to store.Open")
}

// near is the address at which this machine reaches the first server.
func (e *embedded) near() netip.AddrPort { return nearBy(e.listen) }

// secured reports whether clients and routes use TLS: beyond loopback, where it is configured.
func (e *embedded) secured() bool { return e.config.TLS != nil && !e.listen.Addr().IsLoopback() }

// first is the name of the server that has the port. One that does not answer in time, because its process stands still,
// is taken for one of a mesh.
func (e *embedded) first(ctx context.Context) (string, error) {
	d := newDialer("nats", e.config)
	defer d.cut()
	defer context.AfterFunc(ctx, d.cut)()
	credentials, err := credentialsOf(e.address, e.config)
	if err != nil {
		return "", err
	}
	options := []natsgo.Option{natsgo.NoReconnect(), natsgo.Timeout(answerWait), natsgo.SetCustomDialer(d)}
	if e.secured() {
		secure, err := d.clientTLS()
		if err != nil {
			return "", err
		}
		options = append(options, natsgo.Secure(secure))
	}
	conn, err := natsgo.Connect("nats://"+e.near().String(), append(credentials, options...)...)
	keyless := errors.Is(err, natsgo.ErrNkeysNotSupported)
	if keyless { // whose it is decides what to say
		conn, err = natsgo.Connect("nats://"+e.near().String(), options...)
	}
	if err != nil {
		err = d.explain(ctx, err)
	}
	switch {
	case err == nil:
	case errors.Is(err, natsgo.ErrAuthorization) && !keyless:
		return "", e.otherCluster(true)
	case errors.Is(err, natsgo.ErrTimeout) || errors.Is(err, os.ErrDeadlineExceeded):
		return meshName, nil
	default:
		return "", fmt.Errorf("what has the port %d: %w", e.listen.Port(), err)
	}
	defer conn.Close()
	name := conn.ConnectedServerName()
	if !strings.HasPrefix(name, meshName) && !strings.HasPrefix(name, storeName) {
		return "", fmt.Errorf("the port %d has a NATS server that is not embedded: use it by nats://%s, or another port by nats://embedded:%d",
			e.listen.Port(), e.near().String(), e.listen.Port()+1)
	}
	if keyless {
		return "", e.otherCluster(false)
	}
	return name, nil
}

// otherCluster is the error of a port whose server, which asks for a cluster key or not, has another than this use.
func (e *embedded) otherCluster(asks bool) error {
	return fmt.Errorf("the server that has the port %d %w; for another cluster use another port, as in nats://embedded:%d",
		e.listen.Port(), otherKey(asks, e.config), e.listen.Port()+1)
}

// connect dials the server for nats.go. Where another process's serves and is gone, it takes over.
func (e *embedded) connect(d *dialer) (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return nil, ErrClosed
	}
	if e.server != nil {
		return e.server.InProcessConn()
	}
	conn, err := d.Dial("tcp", e.near().String())
	if err == nil || e.address.Store == "" || !errors.Is(err, syscall.ECONNREFUSED) {
		return conn, err
	}
	if err := e.openStore(d.ctx); err != nil {
		return nil, err
	}
	return e.server.InProcessConn()
}
