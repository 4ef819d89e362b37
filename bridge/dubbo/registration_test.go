package dubbo_test

import (
	"context"
	"log/slog"
	"net/url"
	"testing"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
)

// providing is a registry that hands on what is entered of interfaces, and takes nothing else.
type providing chan *url.URL

func (p providing) Run(ctx context.Context, _ *slog.Logger, work func(context.Context, dubbo.RegistrySession) error) {
	_ = work(ctx, providingSession{entered: p})
	<-ctx.Done()
}

type providingSession struct {
	dubbo.RegistrySession
	entered chan *url.URL
}

func (s providingSession) Provide(_ context.Context, _, text string) error {
	u, err := url.Parse(text)
	if err == nil {
		s.entered <- u
	}
	return err
}

func (providingSession) ProvideInstance(context.Context, dubbo.Instance) error {
	return nil
}

func (providingSession) MapInterface(context.Context, string, string) error {
	return nil
}

func (providingSession) PutMetadata(context.Context, string, string, []byte) error {
	return nil
}

// Dubbo for Go writes the messages of a generated client as what the provider says, and knows Hessian by no message.
func TestInterfacesOfMessagesAreNotRegisteredAsHessian(t *testing.T) {
	messages, plain := sabir.NewService("messages"), sabir.NewService("plain")
	sabir.Handle(messages, "greet", func(_ context.Context, in *wrapperspb.StringValue) (*wrapperspb.StringValue, error) { return in, nil })
	sabir.Handle(plain, "greet", func(_ context.Context, in string) (string, error) { return in, nil })
	entered := make(providing, 10)
	start(t, sabir.Serve(messages), sabir.Serve(plain), dubbo.Bridge(dubbo.Config{Registries: []dubbo.Registry{entered}, Application: "shop", Serve: map[string][]dubbo.Interface{"tri://" + freeAddress(t): {
		{Name: "com.shop.Generated", Service: "messages"}, {Name: "com.shop.Named", Service: "messages", Methods: []dubbo.Method{{Name: "Greet", Action: "greet"}}},
		{Name: "com.shop.Structs", Service: "plain", Protobuf: true}, {Name: "com.shop.Plain", Service: "plain"}}}}))
	for range 4 {
		u := <-entered
		want := ""
		if u.Query().Get("interface") == "com.shop.Plain" {
			want = "hessian2"
		}
		if got := u.Query().Get("serialization"); got != want {
			t.Errorf("%s is registered with the serialization %q, want %q", u.Query().Get("interface"), got, want)
		}
	}
}
