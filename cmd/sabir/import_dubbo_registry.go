package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/sabir-go/sabir/internal/javaclass"
)

// zooKeeperScheme begins the address of a ZooKeeper, in which providers of Dubbo publish definitions of their interfaces.
const zooKeeperScheme = "zookeeper://"

// Bounds of what is read of a registry.
const (
	maxDefinitionNodes = 10_000
	maxDefinitionBytes = 64 << 20 // of all definitions
)

// publishedDefinitions holds the definitions that were read, by interface.
type publishedDefinitions struct {
	classes        javaclass.Classes
	version, group string // that are wanted; "" for any
	read           map[string][]javaclass.Definition
}

// add reads one definition if its version and its group are wanted. Of providers of the same, the first counts.
func (p *publishedDefinitions) add(data []byte) error {
	own := make(javaclass.Classes)
	d, err := own.ReadDefinition(data)
	if err != nil {
		return err
	}
	if p.version != "" && d.Version != p.version || p.group != "" && d.Group != p.group {
		return nil
	}
	known := p.read[d.Interface]
	if slices.ContainsFunc(known, func(k javaclass.Definition) bool { return k.Version == d.Version && k.Group == d.Group }) {
		return nil
	}
	p.read[d.Interface] = append(known, d)
	for name, class := range own {
		if p.classes[name] == nil {
			p.classes[name] = class
		}
	}
	return nil
}

// of is the definition of an interface. It is none for one of a jar, and an error where there are several.
func (p *publishedDefinitions) of(name string) (d javaclass.Definition, err error) {
	list := p.read[name]
	switch len(list) {
	case 0:
		return d, nil
	case 1:
		return list[0], nil
	}
	var texts []string
	for _, one := range list {
		texts = append(texts, fmt.Sprintf("version %q of group %q", one.Version, one.Group))
	}
	slices.Sort(texts)
	return d, failf("%s is offered as %s: choose one by --version and --group", name, strings.Join(texts, ", "))
}

// addFile reads a definition from a file.
func (p *publishedDefinitions) addFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return failf("%w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, javaclass.MaxDefinition+1))
	if err == nil {
		err = p.add(data)
	}
	if err != nil {
		return failf("%s: %w", name, err)
	}
	return nil
}

// addZooKeeper reads the definitions of the interfaces that are wanted, of all where none is, from zookeeper://host:2181,host:2181/root.
func (p *publishedDefinitions) addZooKeeper(ctx context.Context, address string, interfaces []string) error {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.User != nil {
		return usagef("the address of ZooKeeper is none: want zookeeper://host:2181, or zookeeper://host:2181,other:2181/root where the root is not /dubbo")
	}
	silent := log.New(io.Discard, "", 0)
	conn, _, err := zk.Connect(strings.Split(at.Host, ","), 10*time.Second, zk.WithLogger(silent), zk.WithMaxBufferSize(javaclass.MaxDefinition))
	if err != nil {
		return failf("%s: %w", at.Host, err)
	}
	done := make(chan error, 1)
	go func() {
		r := zooKeeperReader{conn: conn, definitions: p, nodes: maxDefinitionNodes, bytes: maxDefinitionBytes}
		done <- r.read("/"+path.Join(cmp.Or(strings.Trim(at.Path, "/"), "dubbo"), "metadata"), interfaces)
	}()
	defer conn.Close() // which ends the reader
	select {
	case err = <-done:
	case <-ctx.Done():
		return failf("ZooKeeper at %s does not answer in time: %w", at.Host, ctx.Err())
	}
	if err != nil {
		return failf("the definitions in ZooKeeper at %s: %w", at.Host, err)
	}
	return nil
}

// zooKeeperReader reads the definitions that are below a node.
type zooKeeperReader struct {
	conn         *zk.Conn
	definitions  *publishedDefinitions
	nodes, bytes int // that may still be read
}

func (r *zooKeeperReader) read(root string, interfaces []string) error {
	if len(interfaces) == 0 {
		children, err := r.children(root)
		if err != nil {
			return err
		}
		interfaces = children
	}
	for _, name := range interfaces {
		if err := r.walk(root+"/"+name, 3); err != nil { // version, group, side
			return err
		}
	}
	return nil
}

func (r *zooKeeperReader) children(at string) ([]string, error) {
	children, _, err := r.conn.Children(at)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if r.nodes -= len(children); err == nil && r.nodes < 0 {
		err = fmt.Errorf("there are more than %d entries: name interfaces by --interface", maxDefinitionNodes)
	}
	slices.Sort(children)
	return children, err
}

// walk reads the definitions of an interface: those of <version>/<group>/provider/<application>, where a version or a group that is none has no entry.
func (r *zooKeeperReader) walk(at string, depth int) error {
	children, err := r.children(at)
	if err != nil {
		return err
	}
	for _, child := range children {
		below := at + "/" + child
		switch {
		case path.Base(at) == "provider":
			if err := r.definition(below); err != nil {
				return fmt.Errorf("%s: %w", below, err)
			}
		case depth > 0 && child != "consumer":
			if err := r.walk(below, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *zooKeeperReader) definition(at string) error {
	data, _, err := r.conn.Get(at)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if r.bytes -= len(data); err == nil && r.bytes < 0 {
		err = fmt.Errorf("there are more than %d bytes of definitions: name interfaces by --interface", maxDefinitionBytes)
	}
	if err != nil || len(data) == 0 {
		return err
	}
	return r.definitions.add(data)
}
