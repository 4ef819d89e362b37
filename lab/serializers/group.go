package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/codec/json"
)

// group is one value with all that encode it: a table of the report.
type group struct {
	Title string `json:"title"`
	Bytes int    `json:"json"` // length of the value as JSON
	Rows  []*row `json:"rows"`

	text  []byte // the value for the children, as JSON
	want  []byte // what a decoded message must hold, as JSON
	peers []peer
}

// peer is a contender in a child process.
type peer struct {
	name, format, wire, language string
}

var moleculerPeers = []peer{
	{"Moleculer JSON", "JSON", "JSON", "node"}, {"Moleculer MsgPack", "MsgPack", "MsgPack", "node"},
	{"Moleculer Notepack", "MsgPack", "MsgPack", "node"}, {"Moleculer CBOR", "CBOR", "CBOR", "node"},
	{"Moleculer Avro", "Avro", "Avro", "node"}, {"Moleculer ProtoBuf", "ProtoBuf", "ProtoBuf", "node"},
	{"Moleculer Thrift", "Thrift", "Thrift", "node"},
}

var hessianPeers = []peer{
	{"hessian.js", "Hessian", "Hessian", "node"}, {"sofa-hessian-node", "Hessian", "Hessian", "node"},
	{"JSON in Node", "JSON", "JSON", "node"}, {"caucho hessian", "Hessian", "Hessian", "java"},
	{"hessian-lite", "Hessian", "Hessian", "java"}, {"fastjson2", "JSON", "JSON", "java"},
}

// spec is a group before it is made, which only those do that need it.
type spec struct {
	table string
	title string
	make  func(title string) (*group, error)
}

// specs are packets around documents of all sizes, and what the actions of node-hsf's benchmark return, with the text of its
// HTTP server.
var specs = []spec{
	{"packets", "packet 10", func(title string) (*group, error) { return packetGroup(title, numberDocument()) }},
	{"packets", "packet 150", func(title string) (*group, error) { return packetGroup(title, requestDocument()) }},
	{"packets", "packet 1k", pages(1052)}, {"packets", "packet 10k", pages(10449)}, {"packets", "packet 50k", pages(50522)},
	{"packets", "packet 100k", pages(101021)}, {"packets", "packet 1M", pages(1010003)},
	{"values", "complex object", func(title string) (*group, error) { return valueGroup(title, newComplexObject()) }},
	{"values", "hello", texts("hello world")}, {"values", "ping", texts("echo")}, {"values", "noError", texts("ok")},
}

func pages(bytes int) func(string) (*group, error) {
	return func(title string) (*group, error) { return packetGroup(title, pageDocument(bytes)) }
}

func texts(value string) func(string) (*group, error) {
	return func(title string) (*group, error) { return valueGroup(title, value) }
}

func packetGroup[D any](title string, document D) (*group, error) {
	text, err := json.Append(nil, &document)
	if err != nil {
		return nil, err
	}
	p := newPacket(document)
	want, err := json.Append(nil, &p)
	if err != nil {
		return nil, err
	}
	rows, err := packetRows(document)
	return &group{Title: title, Bytes: len(text), Rows: rows, text: text, want: want, peers: moleculerPeers}, err
}

func valueGroup[D any](title string, value D) (*group, error) {
	text, err := json.Append(nil, &value)
	if err != nil {
		return nil, err
	}
	rows, err := valueRows(value)
	return &group{Title: title, Bytes: len(text), Rows: rows, text: text, want: text, peers: hessianPeers}, err
}

// measure starts the children, checks all answers, and measures each row once in every round. Children live for one group
// only, so that no compiler has seen other values than these.
func (g *group) measure(ctx context.Context, p plan, programs map[string]program, step func()) error {
	var rows []*row
	for _, one := range g.peers {
		if _, here := programs[one.language]; here && p.wants(one.name) {
			rows = append(rows, &row{Name: one.name, Format: one.format, wire: one.wire, language: one.language})
		}
	}
	for _, r := range g.Rows {
		if p.wants(r.Name) {
			rows = append(rows, r)
		}
	}
	for _, r := range rows {
		program, err := programs[r.language], error(nil)
		if r.language == "" {
			program, err = selfProgram(g.Title, r.Name)
		}
		if err != nil {
			return err
		}
		if r.child, err = start(ctx, program, r.Name, g.text); err != nil {
			return err
		}
		defer r.child.stop()
		r.runner = r.child
	}
	g.Rows = rows
	for _, r := range rows {
		if err := r.prepare(); err != nil {
			return fmt.Errorf("%s: %w", g.Title, err)
		}
	}
	if err := check(rows, g.want); err != nil {
		return fmt.Errorf("%s: %w", g.Title, err)
	}
	for _, d := range []direction{encoding, decoding} {
		for _, r := range rows {
			if err := r.calibrate(d, p.duration, p.quick); err != nil {
				return fmt.Errorf("%s: %w", g.Title, err)
			}
		}
	}
	for range p.rounds {
		if err := g.round(ctx, p.duration); err != nil {
			return fmt.Errorf("%s: %w", g.Title, err)
		}
		step()
	}
	return nil
}

// round measures all rows in one direction, then in the other.
func (g *group) round(ctx context.Context, duration time.Duration) error {
	for _, d := range []direction{encoding, decoding} {
		for _, r := range g.Rows {
			if ctx.Err() != nil {
				return fmt.Errorf("stopped before the end: %w", ctx.Err())
			}
			if err := r.round(d, duration); err != nil {
				return err
			}
		}
	}
	return nil
}
