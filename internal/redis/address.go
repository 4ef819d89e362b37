// Package redis reads addresses of Redis and opens clients for them. Links, channels and states of grains (all below broker/redis),
// caches (policy/rediscache) and sessions (web/auth/redissessions) use it, so that one address is right or wrong for all:
//
//	address, err := redis.Parse(at, tlsConfig)
//	...
//	server, err := redis.Open(ctx, address, address.Options(), log)
//	...
//	defer server.Close()
package redis

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/address"
	"github.com/sabir-go/sabir/internal/replication"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

const (
	defaultPort = "6379"
	// sentinelsEvery is the interval at which Sentinels are asked where the primary is, besides their own messages about it.
	sentinelsEvery = 5 * time.Second
)

// Address is one Redis server, the servers of a Redis Cluster, or Sentinels that know where the server is.
type Address struct {
	Name           string   // the address without its password, for errors and logs
	Servers        []string // "host:port", those of the Sentinels where Sentinel is set
	User, Password string
	Database       int
	TLS            *tls.Config         // nil where connections are not encrypted
	Prefix         string              // of keys that are kept
	Sentinel       string              // the name that Sentinels have for the primary; "" without Sentinels
	Writes         replication.Setting // how many replicas must have a write

	scheme string
}

// Parse reads redis://user:password@host:port/database?prefix=p&replicas=n&fsync=true&sentinel=name, or rediss:// for TLS. A
// part that means nothing is an error, and so is an address without TLS together with a TLS configuration. No error
// shows the password.
func Parse(at *url.URL, config *tls.Config) (*Address, error) {
	a := &Address{Name: at.Redacted(), scheme: at.Scheme}
	if err := a.read(at); err != nil {
		return nil, fmt.Errorf("the address %q %w", a.Name, err)
	}
	if at.Scheme != "rediss" {
		return a, transport.Config{TLS: config}.CheckPlain(at, "rediss")
	}
	host := "" // with several servers each has its own name
	if len(a.Servers) == 1 && a.Sentinel == "" {
		host, _, _ = net.SplitHostPort(a.Servers[0])
	}
	var err error
	if a.TLS, err = transports.ClientTLS(config, host); err != nil {
		return nil, fmt.Errorf("the address %q: %w", a.Name, err)
	}
	return a, nil
}

func (a *Address) read(at *url.URL) (err error) {
	if at.Opaque != "" || at.Fragment != "" || at.Host == "" {
		return fmt.Errorf("is not %s://user:password@host:port/database", at.Scheme)
	}
	if a.Servers, err = address.Servers(at.Host, defaultPort); err != nil {
		return err
	}
	parameters := address.Read(at)
	a.Prefix = parameters.Prefix(address.WithDots)
	var named bool
	a.Sentinel, named = parameters.Text("sentinel")
	a.Writes = replication.Read(parameters)
	if err := parameters.Err(); err != nil {
		return err
	}
	if err := a.Writes.Check(); err != nil {
		return fmt.Errorf("has %w", err)
	}
	if named && a.Sentinel == "" {
		return fmt.Errorf("has no name in sentinel=: want the one that the Sentinels have for the primary, such as mymaster")
	}
	if at.User != nil {
		a.User = at.User.Username()
		a.Password, _ = at.User.Password()
	}
	path := strings.TrimPrefix(at.Path, "/")
	if path == "" {
		return nil
	}
	database, err := strconv.ParseUint(path, 10, 16)
	if err != nil {
		return fmt.Errorf("has the database %q: want a number up to 65535, or none", path)
	}
	if database != 0 && a.Clustered() {
		return fmt.Errorf("has a database, but a Redis Cluster has only one")
	}
	a.Database = int(database)
	return nil
}

// Clustered reports whether the servers are those of a Redis Cluster.
func (a *Address) Clustered() bool { return len(a.Servers) > 1 && a.Sentinel == "" }

// Public is the address for other nodes, without user, password and parameters of this node's stores.
func (a *Address) Public() string {
	u := url.URL{Scheme: a.scheme, Host: strings.Join(a.Servers, ",")}
	if a.Database != 0 {
		u.Path = "/" + strconv.Itoa(a.Database)
	}
	if a.Sentinel != "" {
		u.RawQuery = url.Values{"sentinel": {a.Sentinel}}.Encode()
	}
	return u.String()
}

// Options returns the options of a client for the address. The caller adds its own, such as names and timeouts, before it opens one.
//
// The client repeats nothing by itself and caches nothing: whether a write may be done again is for its user to decide.
func (a *Address) Options() rueidis.ClientOption {
	return rueidis.ClientOption{
		InitAddress: a.Servers, Username: a.User, Password: a.Password, SelectDB: a.Database, TLSConfig: a.TLS,
		Dialer:            net.Dialer{Control: transport.Config{}.LimitSegments},
		ForceSingleClient: len(a.Servers) == 1 && a.Sentinel == "",
		DisableRetry:      true,
		DisableCache:      true,
	}
}

// askSentinels has a client find its server by the Sentinels at its addresses, which have no password of their own. It comes
// after all other options, since the connections to Sentinels use the same dialer.
func (a *Address) askSentinels(option rueidis.ClientOption) rueidis.ClientOption {
	if a.Sentinel != "" {
		option.ForceSingleClient = false
		option.Sentinel = rueidis.SentinelOption{MasterSet: a.Sentinel, Dialer: option.Dialer, TLSConfig: option.TLSConfig, TopologyRefreshInterval: sentinelsEvery}
	}
	return option
}

// Server is the "host:port" of the one server, which Sentinels know where the address has some. It is for uses that dial by
// themselves and take no Redis Cluster.
func (a *Address) Server(ctx context.Context) (string, error) {
	if a.Sentinel == "" {
		return a.Servers[0], nil
	}
	var last error
	for _, sentinel := range a.Servers {
		server, err := a.primary(ctx, sentinel)
		if err == nil {
			return server, nil
		}
		last = fmt.Errorf("the Sentinel at %s: %w", sentinel, err)
	}
	return "", last
}

func (a *Address) primary(ctx context.Context, sentinel string) (string, error) {
	option := a.Options()
	option.InitAddress, option.ForceSingleClient = []string{sentinel}, true
	option.Username, option.Password, option.SelectDB = "", "", 0
	limitDial(ctx, &option)
	client, err := rueidis.NewClient(option)
	if err != nil {
		return "", err
	}
	defer client.Close()
	found, err := client.Do(ctx, client.B().SentinelGetMasterAddrByName().Master(a.Sentinel).Build()).AsStrSlice()
	if rueidis.IsRedisNil(err) || err == nil && len(found) != 2 {
		return "", fmt.Errorf("it knows no primary called %q", a.Sentinel)
	}
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(found[0], found[1]), nil
}
