package rpc

import (
	"net/http"

	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// reflection returns the handlers of gRPC's server reflection, by which grpcurl and others learn what can be called, by their paths.
func (d *dispatcher) reflection() map[string]http.Handler {
	r := grpcreflect.NewReflector(named{d}, grpcreflect.WithDescriptorResolver(described{d}), grpcreflect.WithExtensionResolver(new(protoregistry.Types)))
	_, v1 := grpcreflect.NewHandlerV1(r)
	_, v1alpha := grpcreflect.NewHandlerV1Alpha(r)
	return map[string]http.Handler{
		"/" + grpcreflect.ReflectV1ServiceName:      d.methods(grpcreflect.ReflectV1ServiceName, map[string]http.Handler{reflectMethod: withoutDeadlines(v1)}),
		"/" + grpcreflect.ReflectV1AlphaServiceName: d.methods(grpcreflect.ReflectV1AlphaServiceName, map[string]http.Handler{reflectMethod: withoutDeadlines(v1alpha)}),
	}
}

const reflectMethod = "ServerReflectionInfo"

// named lists the services.
type named struct{ *dispatcher }

// Names implements [grpcreflect.Namer].
func (n named) Names() []string { return append(n.services.Load().names(), healthName) }

// described finds descriptors: of what is offered, of the health service, and of generated messages that the program has.
type described struct{ *dispatcher }

// FindFileByPath implements protodesc.Resolver.
func (d described) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if path == healthFile.Path() {
		return healthFile, nil
	}
	if file, err := d.services.Load().descriptors().FindFileByPath(path); err == nil {
		return file, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

// FindDescriptorByName implements protodesc.Resolver.
func (d described) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	for _, own := range []protoreflect.Descriptor{healthFile.Services().Get(0), healthRequest, healthResponse} {
		if own.FullName() == name {
			return own, nil
		}
	}
	if found, err := d.services.Load().descriptors().FindDescriptorByName(name); err == nil {
		return found, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}
