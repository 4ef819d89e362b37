package rpc

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
)

// maxAddresses is how many addresses of one name are called.
const maxAddresses = 64

// dnsTarget is the extension of a Foreign whose URL is that of a name, "dns:///billing:50051". Each of its addresses is a foreign node.
type dnsTarget struct {
	config     Foreign
	host, port string
	lookup     func(ctx context.Context, host string) ([]string, error)

	node   *sabir.Node
	peers  map[string]*peer // by address
	looks  chan struct{}    // asks for a look
	cancel context.CancelFunc
	ended  chan struct{}
}

// newDNSTarget takes a URL without its "dns:".
func newDNSTarget(f Foreign, target string) *dnsTarget {
	d := &dnsTarget{config: f, lookup: net.DefaultResolver.LookupHost}
	if target, ok := strings.CutPrefix(target, "///"); ok {
		d.host, d.port, _ = net.SplitHostPort(target) // Start reports what is wrong
	}
	return d
}

// Name implements sabir.Extension.
func (d *dnsTarget) Name() string { return "dns:///" + net.JoinHostPort(d.host, d.port) }

// Start implements sabir.Extension.
func (d *dnsTarget) Start(ctx context.Context, node *sabir.Node) error {
	if d.host == "" || d.port == "" {
		return fmt.Errorf("rpc.Dial: %.200q has to be like \"dns:///billing:50051\"", d.config.URL)
	}
	scheme := "http://"
	if d.config.TLS != nil {
		scheme = "https://"
	}
	d.config.URL = scheme + net.JoinHostPort(d.host, d.port)
	if err := newPeer(d.config).check(); err != nil {
		return err
	}
	d.node, d.peers = node, make(map[string]*peer)
	d.looks, d.ended = make(chan struct{}, 1), make(chan struct{})
	var running context.Context
	running, d.cancel = context.WithCancel(context.Background())
	failed := d.look(ctx)
	go d.follow(running, failed)
	return nil
}

// Stop implements sabir.Extension.
func (d *dnsTarget) Stop(ctx context.Context) error {
	d.cancel()
	<-d.ended
	for _, p := range d.peers {
		_ = p.Stop(ctx) // which has no errors
	}
	return nil
}

func (d *dnsTarget) follow(ctx context.Context, failed error) {
	defer close(d.ended)
	followLooks(ctx, d.looks, failed, d.look, func(err error) {
		d.node.Log().Warn("the addresses of a foreign server cannot be found: asking again", "node", d.node.ID(), "server", d.Name(), "error", err)
	})
}

// look asks for the addresses, and starts and ends their peers. While there is no answer, those that are known are called.
func (d *dnsTarget) look(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	found, err := d.lookup(within, d.host)
	if err != nil {
		return err
	}
	slices.Sort(found)
	found = slices.Compact(found)
	found = found[:min(len(found), maxAddresses)]
	for address, p := range d.peers {
		if !slices.Contains(found, address) {
			delete(d.peers, address)
			_ = p.Stop(ctx) // which has no errors
		}
	}
	var starting sync.WaitGroup
	problems := make([]error, len(found))
	for i, address := range found {
		if d.peers[address] != nil {
			continue
		}
		p := newPeer(d.config)
		p.id = net.JoinHostPort(address, d.port)
		p.address, p.lost = p.id, d.askForLook
		d.peers[address] = p
		starting.Go(func() { problems[i] = p.Start(ctx, d.node) })
	}
	starting.Wait()
	for i, address := range found {
		if problems[i] != nil {
			delete(d.peers, address)
			err = problems[i]
		}
	}
	return err
}

func (d *dnsTarget) askForLook() {
	select {
	case d.looks <- struct{}{}:
	default: // one is asked for
	}
}

// followLooks looks every lookInterval until ctx ends, sooner where that is asked for and where the last one failed, as the first one did
// with err. It reports an error once in a row.
func followLooks(ctx context.Context, asked <-chan struct{}, err error, look func(context.Context) error, report func(error)) {
	known := ""
	for {
		wait, text := lookInterval, ""
		if err != nil {
			wait, text = lookAgain, err.Error()
		}
		if text != known && ctx.Err() == nil {
			if known = text; err != nil {
				report(err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		case <-asked:
			select {
			case <-ctx.Done():
				return
			case <-time.After(lookAgain):
			}
		}
		err = look(ctx)
	}
}
