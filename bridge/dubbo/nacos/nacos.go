// Package nacos is Nacos as a registry of Dubbo, for [github.com/sabir-go/sabir/bridge/dubbo.Config]:
//
//	dubbo.Config{Registries: []dubbo.Registry{&nacos.Registry{Servers: []string{"10.0.0.9:8848"}}}}
//
// Providers are instances of services such as providers:com.shop.OrderService:1.0.0:, and instances of applications are those of a service with the
// application's name, as programs of Java with Dubbo 2.7 and 3 have them. It speaks the protocol of Nacos 2 and 3 over gRPC, which the server expects
// at a port that is higher by 1000.
package nacos

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/secret"
)

// Registry is Nacos as a registry. It must not change once the node has started.
type Registry struct {
	// Servers are the addresses of Nacos's servers, such as 10.0.0.9:8848. One that answers is enough. It has no default.
	Servers []string
	// Namespace is the id of the namespace, as the parameter namespace of Dubbo's registry says. Default: that which Nacos calls public.
	Namespace string
	// Group has the services, as the parameter group of Dubbo's registry says. Default: DEFAULT_GROUP.
	Group string
	// User and Password are those of a user of Nacos who may read and write the namespace. They go to the server by HTTP, and by HTTPS with TLS.
	// Default: none.
	User     string
	Password secret.Secret
	// TLS has connections encrypted. Default: none.
	TLS *tls.Config
}

// grpcOffset is how much higher the port for gRPC is than that of an address of a server.
const grpcOffset = 1000

// goodbyeTimeout bounds what is done when a session ends.
const goodbyeTimeout = 2 * time.Second

// again is the wait before what failed is done again.
var again = backoff.Backoff{First: 500 * time.Millisecond, Last: 10 * time.Second}

func (r *Registry) check() error {
	if len(r.Servers) == 0 {
		return errors.New("no server is named: give the addresses of some in Servers")
	}
	for _, s := range r.Servers {
		if _, err := grpcAddress(s); err != nil {
			return err
		}
	}
	if (r.User == "") != r.Password.None() {
		return errors.New("User and Password go together")
	}
	return nil
}

// grpcAddress is where a server expects gRPC. The error leaves out the address, in which there may be a password.
func grpcAddress(server string) (string, error) {
	host, port, err := net.SplitHostPort(server)
	number, notNumber := strconv.Atoi(port)
	if err != nil || notNumber != nil || number < 1 || number > 0xffff-grpcOffset || host == "" || strings.ContainsAny(server, "/@") {
		return "", errors.New("a server is no address such as 10.0.0.9:8848")
	}
	return net.JoinHostPort(host, strconv.Itoa(number+grpcOffset)), nil
}

// Run implements dubbo.Registry.
func (r *Registry) Run(ctx context.Context, log *slog.Logger, work func(context.Context, dubbo.RegistrySession) error) {
	log = log.With("registry", "nacos")
	if err := r.check(); err != nil {
		log.Error("Nacos is no registry with these settings: nothing is entered, and no providers are found", "error", fmt.Errorf("nacos.Registry: %w", err))
		return
	}
	l := &login{registry: r}
	defer l.close()
	warned := false
	for failed := 0; ; {
		server := r.Servers[failed%len(r.Servers)]
		reached, err := r.serve(ctx, log, l.at(server), func() {
			if warned {
				log.Info("Nacos is reached again: what was entered is entered anew", "server", server)
			}
			warned = false
		}, work)
		if ctx.Err() != nil {
			return
		}
		if failed++; reached {
			failed = 1 // the next server first
		}
		if !warned {
			warned = true
			log.Warn("Nacos is not reached: providers that are known stay, and others are not found meanwhile", "server", server, "error", err)
		}
		if backoff.Sleep(ctx, again.Wait(failed)) != nil {
			return
		}
	}
}

// serve works in one session until that or ctx ends.
func (r *Registry) serve(ctx context.Context, log *slog.Logger, token tokens, began func(), work func(context.Context, dubbo.RegistrySession) error) (reached bool, err error) {
	c, err := r.connect(ctx, log, token)
	if err != nil {
		return false, err
	}
	defer c.close()
	began()
	s := newSession(c, r)
	c.told = s.tell
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lost(c.receive())
	}()
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		if err := c.watch(ctx); err != nil {
			lost(err)
		}
	}()
	for failed := 1; ; failed++ {
		begun := time.Now()
		err := work(ctx, s)
		if ctx.Err() != nil {
			break
		}
		if time.Since(begun) > again.Last {
			failed = 1
		}
		log.Warn("the work with Nacos failed and is done again", "error", err)
		if backoff.Sleep(ctx, again.Wait(failed)) != nil {
			break
		}
	}
	<-watching
	if errors.Is(context.Cause(ctx), context.Canceled) { // the connection is there: what was entered is removed before it ends
		s.leave(context.WithoutCancel(ctx))
	}
	c.close()
	<-ended
	return true, context.Cause(ctx)
}
