package webhook_test

import (
	"bytes"
	"context"
	"io"

	"github.com/cloudevents/sdk-go/v2/binding"
	"github.com/cloudevents/sdk-go/v2/binding/format"
	"github.com/cloudevents/sdk-go/v2/binding/spec"
	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/cloudevents/sdk-go/v2/types"
)

// brokerMessage is a message of a broker as other programs see it. The official SDK writes events into it and reads them from it, by the interfaces that
// its modules for NATS and AMQP implement in the same way.
type brokerMessage struct {
	media      string
	attributes map[string]string // without datacontenttype
	data       []byte
}

// writtenBySDK is an event in the mode of ctx.
func writtenBySDK(ctx context.Context, e *event.Event) (*brokerMessage, error) {
	m := &brokerMessage{}
	_, err := binding.Write(ctx, binding.ToMessage(e), m, m)
	return m, err
}

func (m *brokerMessage) Start(context.Context) error {
	m.attributes = map[string]string{}
	return nil
}

func (m *brokerMessage) End(context.Context) error { return nil }

func (m *brokerMessage) SetAttribute(a spec.Attribute, value any) error {
	if a.Kind() != spec.DataContentType {
		return m.SetExtension(a.Name(), value)
	}
	m.media, _ = value.(string)
	return nil
}

func (m *brokerMessage) SetExtension(name string, value any) (err error) {
	if value != nil {
		m.attributes[name], err = types.Format(value)
	}
	return err
}

func (m *brokerMessage) SetData(data io.Reader) (err error) {
	m.data, err = io.ReadAll(data)
	return err
}

func (m *brokerMessage) SetStructuredEvent(_ context.Context, f format.Format, data io.Reader) error {
	m.media = f.MediaType()
	return m.SetData(data)
}

func (m *brokerMessage) ReadEncoding() binding.Encoding {
	switch {
	case format.IsFormat(m.media):
		return binding.EncodingStructured
	case m.attributes["specversion"] != "":
		return binding.EncodingBinary
	}
	return binding.EncodingUnknown
}

func (m *brokerMessage) ReadStructured(ctx context.Context, w binding.StructuredWriter) error {
	if m.ReadEncoding() != binding.EncodingStructured {
		return binding.ErrNotStructured
	}
	return w.SetStructuredEvent(ctx, format.Lookup(m.media), bytes.NewReader(m.data))
}

func (m *brokerMessage) ReadBinary(_ context.Context, w binding.BinaryWriter) error {
	if m.ReadEncoding() != binding.EncodingBinary {
		return binding.ErrNotBinary
	}
	version := spec.VS.Version(m.attributes["specversion"])
	if err := w.SetAttribute(version.AttributeFromKind(spec.DataContentType), m.media); err != nil {
		return err
	}
	for name, value := range m.attributes {
		set := func() error { return w.SetExtension(name, value) }
		if a := version.Attribute(name); a != nil {
			set = func() error { return w.SetAttribute(a, value) }
		}
		if err := set(); err != nil {
			return err
		}
	}
	return w.SetData(bytes.NewReader(m.data))
}

func (m *brokerMessage) Finish(error) error { return nil }

func (m *brokerMessage) GetAttribute(k spec.Kind) (spec.Attribute, any) {
	a := spec.VS.Version(m.attributes["specversion"]).AttributeFromKind(k)
	return a, m.GetExtension(a.Name())
}

func (m *brokerMessage) GetExtension(name string) any {
	if value, has := m.attributes[name]; has {
		return value
	}
	return nil
}
