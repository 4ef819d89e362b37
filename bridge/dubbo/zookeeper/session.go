package zookeeper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"github.com/sabir-go/sabir/bridge/dubbo"
)

// servicesRoot begins the paths of instances of applications.
const servicesRoot = "/services"

const (
	// maxEntries bounds the instances of one application that are read.
	maxEntries = 1000
	// reads is how many of them are read at once.
	reads = 16
)

// session implements dubbo.RegistrySession.
type session struct{ *client }

func (s *session) path(parts ...string) string {
	return "/" + cmp.Or(strings.Trim(s.registry.Root, "/"), "dubbo") + "/" + strings.Join(parts, "/")
}

// acl names who may change what is entered.
func (s *session) acl() []zk.ACL {
	if s.registry.Password.None() {
		return zk.WorldACL(zk.PermAll)
	}
	return zk.AuthACL(zk.PermAll)
}

// Provide implements dubbo.RegistrySession.
func (s *session) Provide(ctx context.Context, iface, text string) error {
	return s.enter(ctx, s.path(iface, "providers"), url.QueryEscape(text), nil)
}

// instance holds what is entered of an instance: the form is that of Curator's package x-discovery.
type instance struct {
	Name         string  `json:"name"`
	ID           string  `json:"id"`
	Address      string  `json:"address"`
	Port         int     `json:"port"`
	SSLPort      *int    `json:"sslPort"`
	Payload      payload `json:"payload"`
	Registration int64   `json:"registrationTimeUTC"`
	ServiceType  string  `json:"serviceType"`
	URISpec      *string `json:"uriSpec"`
}

type payload struct {
	Class    string            `json:"@class"`
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Metadata map[string]string `json:"metadata"`
}

// ProvideInstance implements dubbo.RegistrySession.
func (s *session) ProvideInstance(ctx context.Context, i dubbo.Instance) error {
	id := net.JoinHostPort(i.Host, strconv.Itoa(i.Port))
	data, err := json.Marshal(instance{Name: i.Application, ID: id, Address: i.Host, Port: i.Port, Registration: time.Now().UnixMilli(), ServiceType: "DYNAMIC",
		Payload: payload{"org.apache.dubbo.registry.zookeeper.ZookeeperInstance", id, i.Application, i.Metadata}})
	if err != nil {
		return err
	}
	return s.enter(ctx, servicesRoot+"/"+i.Application, id, data)
}

// enter makes a node that ends with the session. One of an earlier session is replaced: it would end with that.
func (s *session) enter(ctx context.Context, parent, name string, data []byte) error {
	if err := s.parents(ctx, parent); err != nil {
		return err
	}
	path := parent + "/" + name
	for {
		_, err := await(ctx, func() (string, error) { return s.Create(path, data, zk.FlagEphemeral, s.acl()) })
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		_, err = await(ctx, func() (struct{}, error) { return struct{}{}, s.Delete(path, -1) })
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
}

// parents makes a node and those above it, which stay.
func (s *session) parents(ctx context.Context, path string) error {
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '/' {
			continue
		}
		_, err := await(ctx, func() (string, error) { return s.Create(path[:end], nil, 0, s.acl()) })
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// MapInterface implements dubbo.RegistrySession.
func (s *session) MapInterface(ctx context.Context, iface, application string) error {
	path := s.path("mapping", iface)
	if err := s.parents(ctx, s.path("mapping")); err != nil {
		return err
	}
	for {
		_, err := await(ctx, func() (string, error) { return s.Create(path, []byte(application), 0, s.acl()) })
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		now, err := await(ctx, func() (read, error) { return s.get(path) })
		if err != nil {
			return err
		}
		names := split(now.data)
		if slices.Contains(names, application) {
			return nil
		}
		next := []byte(strings.Join(append(names, application), ","))
		_, err = await(ctx, func() (struct{}, error) {
			_, err := s.Set(path, next, now.version)
			return struct{}{}, err
		})
		if !errors.Is(err, zk.ErrBadVersion) { // another wrote meanwhile
			return err
		}
	}
}

// read holds what was read of a node, with a channel that is closed when it has changed.
type read struct {
	data     []byte
	version  int32
	children []string
	changed  <-chan struct{}
}

func (s *session) get(path string) (read, error) {
	data, stat, err := s.Get(path)
	if err != nil {
		return read{}, err
	}
	return read{data: data, version: stat.Version}, nil
}

// watch reads the data of a node, or its children, and waits for changes. For one that is not there it waits too.
func (s *session) watch(ctx context.Context, path string, children bool) (r read, err error) {
	for {
		var events <-chan zk.Event
		if children {
			r.children, _, events, err = s.ChildrenW(path)
		} else {
			r.data, _, events, err = s.GetW(path)
		}
		if errors.Is(err, zk.ErrNoNode) {
			var there bool
			if there, _, events, err = s.ExistsW(path); there {
				continue
			}
		}
		if err != nil {
			return read{}, err
		}
		changed := make(chan struct{})
		go func() {
			defer close(changed)
			select {
			case <-events:
			case <-ctx.Done():
			}
		}()
		r.changed = changed
		return r, nil
	}
}

// Providers implements dubbo.RegistrySession. ZooKeeper has all versions and groups of an interface in one place.
func (s *session) Providers(ctx context.Context, iface, _, _ string) ([]string, <-chan struct{}, error) {
	r, err := await(ctx, func() (read, error) { return s.watch(ctx, s.path(iface, "providers"), true) })
	if err != nil {
		return nil, nil, err
	}
	urls := make([]string, 0, len(r.children))
	for _, child := range r.children {
		text, err := url.QueryUnescape(child)
		if err != nil {
			text = child // which is none, and so is reported
		}
		urls = append(urls, text)
	}
	return urls, r.changed, nil
}

// Applications implements dubbo.RegistrySession.
func (s *session) Applications(ctx context.Context, iface string) ([]string, <-chan struct{}, error) {
	r, err := await(ctx, func() (read, error) { return s.watch(ctx, s.path("mapping", iface), false) })
	return split(r.data), r.changed, err
}

// split reads the names of a mapping.
func split(data []byte) (names []string) {
	for name := range strings.SplitSeq(string(data), ",") {
		if name = strings.TrimSpace(name); isName(name) {
			names = append(names, name)
		}
	}
	return names
}

// isName reports whether ZooKeeper can have a node of the name.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r >= 0xd800 || !unicode.IsPrint(r) })
}

// Instances implements dubbo.RegistrySession.
func (s *session) Instances(ctx context.Context, application string) ([]dubbo.Instance, <-chan struct{}, error) {
	path := servicesRoot + "/" + application
	r, err := await(ctx, func() (read, error) { return s.watch(ctx, path, true) })
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(r.children)
	children := r.children[:min(len(r.children), maxEntries)]
	list := make([]*dubbo.Instance, len(children))
	errs, faults := make([]error, len(children)), make([]error, len(children))
	var reading sync.WaitGroup
	places := make(chan struct{}, reads)
	for n, child := range children {
		places <- struct{}{}
		reading.Go(func() {
			defer func() { <-places }()
			one, err := await(ctx, func() (read, error) { return s.get(path + "/" + child) })
			switch {
			case err == nil:
				list[n], faults[n] = parseInstance(application, one.data)
			case !errors.Is(err, zk.ErrNoNode): // it has not left meanwhile
				errs[n] = err
			}
		})
	}
	reading.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, nil, err
		}
	}
	s.tell(application, children, faults)
	var instances []dubbo.Instance
	for _, i := range list {
		if i != nil {
			instances = append(instances, *i)
		}
	}
	return instances, r.changed, nil
}

// tell reports how many instances are none, with the first of them.
func (s *session) tell(application string, children []string, faults []error) {
	count, first := 0, -1
	for n, fault := range faults {
		if fault != nil {
			if count++; first < 0 {
				first = n
			}
		}
	}
	if count > 0 {
		s.log.Warn("instances of a Dubbo application in ZooKeeper are left out", "application", application, "count", count, "instance", children[first][:min(len(children[first]), 200)], "error", faults[first])
	}
}

// parseInstance reads the data of an instance.
func parseInstance(application string, data []byte) (*dubbo.Instance, error) {
	var i instance
	if err := json.Unmarshal(data, &i); err != nil {
		return nil, err
	}
	if i.Address == "" || i.Port <= 0 || i.Port > 0xffff {
		return nil, fmt.Errorf("the address %q with the port %d is none", i.Address, i.Port)
	}
	return &dubbo.Instance{Application: application, Host: i.Address, Port: i.Port, Metadata: i.Payload.Metadata}, nil
}

// metadataPaths lists the folders that hold the metadata of an application: Java looks in the first, Dubbo for Go in the second.
func (s *session) metadataPaths(application string) [2]string {
	return [2]string{s.path("metadata", application), s.path(application)}
}

// PutMetadata implements dubbo.RegistrySession.
func (s *session) PutMetadata(ctx context.Context, application, revision string, text []byte) error {
	for _, parent := range s.metadataPaths(application) {
		if err := s.parents(ctx, parent); err != nil {
			return err
		}
		_, err := await(ctx, func() (string, error) { return s.Create(parent+"/"+revision, text, 0, s.acl()) })
		if err != nil && !errors.Is(err, zk.ErrNodeExists) { // of an instance with the same interfaces
			return err
		}
	}
	return nil
}

// Metadata implements dubbo.RegistrySession.
func (s *session) Metadata(ctx context.Context, application, revision string) ([]byte, error) {
	if !isName(revision) {
		return nil, errors.New("the revision that it has in ZooKeeper is no name")
	}
	for _, parent := range s.metadataPaths(application) {
		r, err := await(ctx, func() (read, error) { return s.get(parent + "/" + revision) })
		if !errors.Is(err, zk.ErrNoNode) {
			return r.data, err
		}
	}
	return nil, zk.ErrNoNode
}
