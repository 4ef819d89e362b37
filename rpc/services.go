package rpc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/protobuf"
	"github.com/sabir-go/sabir/internal/protoname"
	"github.com/sabir-go/sabir/introspect"
)

// services are the actions that a server offers at one moment.
type services struct {
	paths   map[*sabir.Action]string
	methods []offeredMethod // by path

	describing sync.Once
	files      *protoregistry.Files
}

type offeredMethod struct {
	protoname.Method
	action *sabir.Action
}

// newServices takes those actions whose types are known here and have a form in Protocol Buffers.
func newServices(actions []*sabir.Action) (s *services, problems []error) {
	s = &services{paths: make(map[*sabir.Action]string)}
	taken := make(map[string]*sabir.Action)
	for _, a := range actions {
		if a.In == nil || a.Out == nil {
			continue // of another node
		}
		m := methodOf(a)
		if other := taken[m.Path()]; other != nil {
			problems = append(problems, fmt.Errorf("%s and %s both are %s: the former is called there", other.Name, a.Name, m.Path()))
			continue
		}
		if _, err := protobuf.Descriptor(a.In); err != nil {
			problems = append(problems, fmt.Errorf("the input of %s: %w", a.Name, err))
			continue
		}
		if _, err := protobuf.Descriptor(a.Out); err != nil {
			problems = append(problems, fmt.Errorf("the answer of %s: %w", a.Name, err))
			continue
		}
		taken[m.Path()], s.paths[a] = a, m.Path()
		s.methods = append(s.methods, offeredMethod{m, a})
	}
	slices.SortFunc(s.methods, func(a, b offeredMethod) int { return strings.Compare(a.Path(), b.Path()) })
	return s, problems
}

// names lists the services.
func (s *services) names() []string {
	names := make([]string, 0, len(s.methods))
	for i := range s.methods {
		names = append(names, s.methods[i].ServiceName())
	}
	return slices.Compact(names)
}

// descriptors returns a file for each package, with its services and messages.
func (s *services) descriptors() *protoregistry.Files {
	s.describing.Do(func() {
		s.files = new(protoregistry.Files)
		for _, file := range s.describe() {
			made, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
			if err == nil {
				_ = s.files.RegisterFile(made) // its only error is a name that another file has, which is not described then
			}
		}
	})
	return s.files
}

// describe makes the files, in the order of their names.
func (s *services) describe() []*descriptorpb.FileDescriptorProto {
	packages := make(map[string][]offeredMethod)
	for _, m := range s.methods {
		packages[m.Package] = append(packages[m.Package], m)
	}
	var files []*descriptorpb.FileDescriptorProto
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		files = append(files, describePackage(pkg, packages[pkg]))
	}
	return files
}

func describePackage(pkg string, methods []offeredMethod) *descriptorpb.FileDescriptorProto {
	file := &descriptorpb.FileDescriptorProto{Syntax: new("proto3"), Package: &pkg, Name: new(strings.ReplaceAll(pkg, ".", "/") + ".proto")}
	var service *descriptorpb.ServiceDescriptorProto
	for i := range methods {
		if service == nil || service.GetName() != methods[i].Service {
			service = &descriptorpb.ServiceDescriptorProto{Name: &methods[i].Service}
			file.Service = append(file.Service, service)
		}
		service.Method = append(service.Method, &descriptorpb.MethodDescriptorProto{Name: &methods[i].Name, Options: options(methods[i].action)})
	}
	messages := protobuf.NewDescriber(file) // knows the services now, whose names no message may have
	i := 0
	for _, service := range file.GetService() {
		for _, m := range service.GetMethod() {
			a := methods[i].action
			i++
			m.InputType, m.OutputType = message(messages.Message(a.In)), message(messages.Message(a.Out))
			if a.Stream && a.Shape != introspect.ServerStream {
				m.ClientStreaming = new(true)
			}
			if a.Stream && a.Shape != introspect.ClientStream {
				m.ServerStreaming = new(true)
			}
		}
	}
	return file
}

// message is the name of a message that newServices has found to have a descriptor.
func message(name string, _ error) *string { return &name }

func options(a *sabir.Action) *descriptorpb.MethodOptions {
	var o descriptorpb.MethodOptions
	switch {
	case a.Stream:
	case readsOnly(a):
		o.IdempotencyLevel = descriptorpb.MethodOptions_NO_SIDE_EFFECTS.Enum()
	case a.Idempotent:
		o.IdempotencyLevel = descriptorpb.MethodOptions_IDEMPOTENT.Enum()
	}
	if a.Deprecated != "" {
		o.Deprecated = new(true)
	}
	if proto.Size(&o) == 0 {
		return nil
	}
	return &o
}
