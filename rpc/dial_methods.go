package rpc

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/protoname"
	"github.com/sabir-go/sabir/introspect"
)

// methods holds what a foreign server has, under the names that it has here.
type methods struct {
	files    *descriptorpb.FileDescriptorSet // sorted by name
	found    []protoreflect.ServiceDescriptor
	known    messageTypes
	byAction map[string]*method
	services []introspect.Service
	actions  []introspect.Action
	problems []error // of services that are not described, or cannot have the names they would get
}

type method struct {
	protoreflect.MethodDescriptor
	client  *connect.Client[frame, frame]
	in, out *messageFormat
}

func (m *method) isStream() bool { return m.IsStreamingClient() || m.IsStreamingServer() }

func (m *method) shape() introspect.Shape {
	switch {
	case m.IsStreamingServer() && !m.IsStreamingClient():
		return introspect.ServerStream
	case m.IsStreamingClient() && !m.IsStreamingServer():
		return introspect.ClientStream
	}
	return ""
}

// wants reports whether a service of the server is called.
func (f *Foreign) wants(service protoreflect.FullName) bool {
	if f.Services == nil {
		return !strings.HasPrefix(string(service), "grpc.")
	}
	return f.Services[string(service)] != ""
}

// maxDescription bounds the bytes of the files by which a server describes itself.
const maxDescription = 16 << 20

// reflectedMethods asks the server.
func (p *peer) reflectedMethods(ctx context.Context) (*methods, error) {
	stream := grpcreflect.NewClient(p.client, p.base, p.options()...).NewStream(ctx, grpcreflect.WithRequestHeaders(p.config.Header))
	defer stream.Close()
	services, err := stream.ListServices()
	if err != nil {
		if connect.CodeOf(err) == connect.CodeUnimplemented {
			return nil, fmt.Errorf("it has no reflection, so give rpc.Foreign its Files: %w", err)
		}
		return nil, err
	}
	all := make(files)
	var problems []error
	for _, service := range services {
		if !p.config.wants(service) {
			continue
		}
		withIt := maps.Clone(all)
		files, err := stream.FileContainingSymbol(service)
		if err == nil {
			err = withIt.add(files)
		}
		if err == nil {
			err = withIt.complete(stream)
		}
		switch {
		case err == nil:
			all = withIt
		case connect.CodeOf(err) == connect.CodeNotFound && !grpcreflect.IsReflectionStreamBroken(err): // a server lists services that it has no description of
			problems = append(problems, fmt.Errorf("%s is left out, since the server does not describe it: %w", service, err))
		default:
			return nil, fmt.Errorf("the description of %s: %w", service, err)
		}
	}
	set := &descriptorpb.FileDescriptorSet{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		set.File = append(set.File, all[name])
	}
	m, err := p.config.methods(set)
	if err == nil {
		m.problems = problems
	}
	return m, err
}

// files are those of a server by name.
type files map[string]*descriptorpb.FileDescriptorProto

func (all files) add(more []*descriptorpb.FileDescriptorProto) error {
	size := 0
	for _, file := range more {
		all[file.GetName()] = file
	}
	for _, file := range all {
		size += proto.Size(file)
	}
	if size > maxDescription {
		return fmt.Errorf("it has more than %d bytes, which is all that is taken", maxDescription)
	}
	return nil
}

// missing is a file that others import; "" for none.
func (all files) missing() string {
	for _, file := range all {
		for _, path := range file.GetDependency() {
			if all[path] == nil {
				return path
			}
		}
	}
	return ""
}

// complete adds the files that are missing, which some servers send only when asked.
func (all files) complete(stream *grpcreflect.ClientStream) error {
	for path := all.missing(); path != ""; path = all.missing() {
		more, err := stream.FileByFilename(path)
		if err == nil {
			err = all.add(more)
		}
		if err != nil {
			return err
		}
		if all[path] == nil {
			return connect.NewError(connect.CodeNotFound, fmt.Errorf("the server does not have the file %q, which it imports", path))
		}
	}
	return nil
}

// methods are those in descriptors of the server.
func (f *Foreign) methods(set *descriptorpb.FileDescriptorSet) (*methods, error) {
	files, err := protodesc.FileOptions{AllowUnresolvable: true}.NewFiles(set)
	if err != nil {
		return nil, err
	}
	m := &methods{files: set, known: messageTypes{dynamicpb.NewTypes(files)}}
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			if s := file.Services().Get(i); f.wants(s.FullName()) {
				m.found = append(m.found, s)
			}
		}
		return true
	})
	slices.SortFunc(m.found, func(a, b protoreflect.ServiceDescriptor) int { return cmp.Compare(a.FullName(), b.FullName()) })
	return m, nil
}

// name gives the methods the names of actions.
func (m *methods) name(renamed map[string]string) {
	m.byAction = make(map[string]*method)
	taken := make(map[string]bool)
	for _, s := range m.found {
		service := small(string(s.Name()))
		if renamed != nil {
			service = renamed[string(s.FullName())]
		}
		switch fault := names.Fault(service); {
		case taken[service]:
			m.problems = append(m.problems, fmt.Errorf("%s is left out: another service is called %q, so name them by rpc.Foreign.Services", s.FullName(), service))
			continue
		case fault != "" || strings.HasPrefix(service, "$"):
			m.problems = append(m.problems, fmt.Errorf("%s is left out: it cannot be called %q, so name it by rpc.Foreign.Services", s.FullName(), service))
			continue
		}
		taken[service] = true
		m.services = append(m.services, introspect.Service{Name: service, Description: string(s.FullName())})
		for i := range s.Methods().Len() {
			d := s.Methods().Get(i)
			action := service + "." + small(string(d.Name()))
			if m.byAction[action] != nil || names.Fault(action) != "" {
				m.problems = append(m.problems, fmt.Errorf("%s is left out: it cannot be called %q, or another method is", d.FullName(), action))
				continue
			}
			m.byAction[action] = &method{MethodDescriptor: d, in: &messageFormat{message: d.Input(), known: m.known}, out: &messageFormat{message: d.Output(), known: m.known}}
			m.actions = append(m.actions, introspect.Action{Name: action, Service: service, Description: string(d.FullName()), Visibility: "cluster",
				Stream: m.byAction[action].isStream(), Shape: m.byAction[action].shape(), In: string(d.Input().FullName()), Out: string(d.Output().FullName())})
		}
	}
}

// small is a name as actions have it: "GetInvoice" is getInvoice, and "HTTPStatus" httpStatus.
func small(name string) string {
	words := protoname.Words(name)
	if len(words) == 0 {
		return ""
	}
	words[0] = strings.ToLower(words[0])
	for i := range words[1:] {
		words[i+1] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
	}
	return strings.Join(words, "")
}

// clients makes the clients of all methods.
func (m *methods) clients(p *peer) {
	options := append(p.options(), connect.WithCodec(frameCodec{name: "proto"}))
	for _, one := range m.byAction {
		path := "/" + string(one.Parent().FullName()) + "/" + string(one.Name())
		one.client = connect.NewClient[frame, frame](p.client, p.base+path, options...)
	}
}

// same reports whether the server has what it had.
func (m *methods) same(other *methods) bool {
	return other.files != nil && len(m.byAction) == len(other.byAction) && proto.Equal(m.files, other.files)
}
