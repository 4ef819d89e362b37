package dubbo

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/sabir-go/sabir/codec/hessian"
)

// The interface by which instances of applications say what they provide.
const (
	metadataService       = "org.apache.dubbo.metadata.MetadataService"
	metadataVersion       = "1.0.0"
	metadataMethod        = "getMetadataInfo"
	metadataServiceParams = "dubbo.metadata-service.url-params"
	metadataRevision      = "dubbo.metadata.revision"
	metadataStorage       = "dubbo.metadata.storage-type"
	instanceEndpoints     = "dubbo.endpoints"
)

// metadataInfo is org.apache.dubbo.metadata.MetadataInfo: what an instance of an application provides. In metadata centers it is JSON.
type metadataInfo struct {
	App      string                  `hessian:"app" json:"app"`
	Revision string                  `hessian:"revision" json:"revision"`
	Services map[string]*serviceInfo `hessian:"services" json:"services"`
}

type serviceInfo struct {
	Name     string            `hessian:"name" json:"name"`
	Group    *string           `hessian:"group" json:"group,omitempty"`
	Version  *string           `hessian:"version" json:"version,omitempty"`
	Protocol string            `hessian:"protocol" json:"protocol"`
	Port     int32             `hessian:"port" json:"port"`
	Path     string            `hessian:"path" json:"path"`
	Params   map[string]string `hessian:"params" json:"params"`
}

// object is the metadata as Java's class has them. The Go types are not registered under the names of Java's, which are then free for a program that imports Dubbo's interfaces.
func (i *metadataInfo) object() *hessian.Object {
	services := make(map[string]*hessian.Object, len(i.Services))
	for name, s := range i.Services {
		services[name] = &hessian.Object{Class: "org.apache.dubbo.metadata.MetadataInfo$ServiceInfo", Fields: []hessian.Field{{Name: "name", Value: s.Name}, {Name: "group", Value: s.Group},
			{Name: "version", Value: s.Version}, {Name: "protocol", Value: s.Protocol}, {Name: "port", Value: s.Port}, {Name: "path", Value: s.Path}, {Name: "params", Value: s.Params}}}
	}
	return &hessian.Object{Class: "org.apache.dubbo.metadata.MetadataInfo", Fields: []hessian.Field{{Name: "app", Value: i.App}, {Name: "revision", Value: i.Revision}, {Name: "services", Value: services}}}
}

func (s *serviceInfo) key() key {
	version, group := "", ""
	if s.Version != nil {
		version = *s.Version
	}
	if s.Group != nil {
		group = *s.Group
	}
	return keyOf(s.Name, version, group)
}

// add adds an interface that is served at the port.
func (i *metadataInfo) add(scheme string, m *mapping, port int, params map[string]string) {
	one := &serviceInfo{Name: m.name, Protocol: scheme, Port: int32(port), Path: m.name, Params: params}
	name := m.name
	if m.group != "" {
		one.Group, name = &m.group, m.group+"/"+name
	}
	if m.version != "" {
		one.Version, name = &m.version, name+":"+m.version
	}
	i.Services[name+":"+scheme] = one
}

// seal names the revision, by which consumers know whether they know it.
func (i *metadataInfo) seal() error {
	text, err := json.Marshal(i)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	i.Revision = hex.EncodeToString(sum[:16])
	return nil
}

// isMetadataCall reports whether a call is one of consumers for the metadata of this application.
func (b *bridge) isMetadataCall(inv *invocation) bool {
	return inv.path == metadataService && b.metadata.Load() != nil && inv.attachment("group") == b.Application && inv.method == metadataMethod
}

// appendMetadata appends the kind and the value of the answer to such a call. A revision that the node has no more is null.
func (b *bridge) appendMetadata(inv *invocation, dst []byte) ([]byte, error) {
	info := b.metadata.Load()
	if len(inv.types) == 1 {
		var revision string
		if err := hessian.Codec.Decode(inv.arguments, &revision); err != nil || revision != "" && revision != info.Revision {
			return appendKind(dst, replyNull, inv.answersAttachments), nil
		}
	}
	return hessian.Codec.Append(appendKind(dst, replyValue, inv.answersAttachments), info.object())
}

// metadataOf asks what an instance provides: itself, or the registry.
func (b *bridge) metadataOf(ctx context.Context, s RegistrySession, i Instance) (*metadataInfo, error) {
	revision := i.Metadata[metadataRevision]
	info := new(metadataInfo)
	if i.Metadata[metadataStorage] == "remote" {
		text, err := s.Metadata(ctx, i.Application, revision)
		if err == nil {
			err = json.Unmarshal(text, info)
		}
		return info, err
	}
	at, err := metadataAddress(i)
	if err != nil {
		return nil, err
	}
	ask := b.ask
	if at.scheme == schemeTriple {
		ask = b.askTriple
	}
	value, err := ask(ctx, at.address, i.Application, revision)
	if err != nil {
		return nil, err
	}
	return info, hessian.Codec.Decode(value, info)
}

// metadataAddress returns the address at which an instance can be asked for what it provides.
func metadataAddress(i Instance) (at endpointAt, err error) {
	var params struct{ Port, Protocol string }
	if text := i.Metadata[metadataServiceParams]; text != "" {
		if err := json.Unmarshal([]byte(text), &params); err != nil {
			return at, fmt.Errorf("its parameters of the metadata service: %w", err)
		}
	}
	at.scheme = cmp.Or(params.Protocol, schemeDubbo)
	if !isSpoken(at.scheme) {
		return at, fmt.Errorf("its metadata service speaks the protocol %q, and not dubbo or tri", params.Protocol)
	}
	if params.Port == "" {
		params.Port = strconv.Itoa(i.Port)
	}
	at.address, err = hostPort(i.Host, params.Port)
	return at, err
}

// ask makes one call of an instance's metadata service on a connection of its own.
func (b *bridge) ask(ctx context.Context, address, application, revision string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	raw, err := b.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	c := newConnection(raw, &b.bodies)
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	out, err := appendTexts(appendHeader(nil, flagRequest|flagTwoWay, 0, 1), protocolVersion, metadataService, metadataVersion, metadataMethod, "Ljava/lang/String;", revision)
	if err == nil {
		out, err = hessian.Codec.Append(out, map[string]string{"path": metadataService, "interface": metadataService, "group": application, "version": metadataVersion, "remote.application": b.applicationName()})
	}
	if err == nil {
		err = c.send(setLength(out))
	}
	for err == nil {
		var f frame
		if f, err = c.next(); err != nil {
			break
		}
		c.held.free(len(f.body))
		switch {
		case f.is(flagRequest) || f.is(flagEvent) || f.id != 1:
			continue
		case f.status != statusOK:
			var text string
			_ = hessian.Codec.Decode(f.body, &text)
			return nil, fmt.Errorf("its metadata service answers with the status %d: %s", f.status, firstLine(text))
		}
		answer, err := readReply(f.body)
		switch {
		case err != nil:
			return nil, err
		case answer.exception != nil:
			return nil, answer.exception
		case bytes.Equal(answer.value, []byte{'N'}):
			return nil, errors.New("it does not know the revision that the registry names")
		}
		return answer.value, nil
	}
	return nil, fmt.Errorf("its metadata service at %s: %w", address, err)
}
