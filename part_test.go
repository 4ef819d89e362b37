package sabir_test

import (
	"context"

	"github.com/sabir-go/sabir"
)

// part is an extension of a service that notes what it is asked, in the order in which a node does.
type part struct {
	name   string
	notes  *[]string
	open   func() error
	begin  func()
	close  func(context.Context) error
	opened *sabir.Node
}

func (p *part) Name() string { return p.name }

func (p *part) Start(_ context.Context, n *sabir.Node) error {
	p.note("open")
	p.opened = n
	if p.open == nil {
		return nil
	}
	return p.open()
}

func (p *part) Begin() {
	p.note("begin")
	if p.begin != nil {
		p.begin()
	}
}

func (p *part) Stop(ctx context.Context) error {
	p.note("close")
	if p.close == nil {
		return nil
	}
	return p.close(ctx)
}

func (p *part) note(what string) {
	if p.notes != nil {
		*p.notes = append(*p.notes, p.name+" "+what)
	}
}

// attachPart stands for a function of a package that offers one. It is in a file of its own, which no report may name.
func attachPart(s *sabir.Service, name string, problems ...error) {
	s.Attach(&part{name: name}, 1, problems...)
}
