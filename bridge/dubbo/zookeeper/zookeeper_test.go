package zookeeper

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSettingsThatCannotWorkAreInTheLogAndSayWhatToDo(t *testing.T) {
	for want, r := range map[string]*Registry{
		"give the addresses of some in Servers": {},
		"no address such as 10.0.0.9:2181":      {Servers: []string{"zookeeper://root:hunter2@10.0.0.9:2181"}},
		"want more than 0":                      {Servers: []string{"10.0.0.9:2181"}, SessionTimeout: -1},
	} {
		var logged bytes.Buffer
		r.Run(t.Context(), slog.New(slog.NewTextHandler(&logged, nil)), nil)
		if !strings.Contains(logged.String(), want) || strings.Contains(logged.String(), "hunter2") {
			t.Errorf("the log says %q, want %q", logged.String(), want)
		}
	}
}

func TestOnlyTheUserMayChangeWhatIsEntered(t *testing.T) {
	server := brokers.ForTest(t, brokers.ZooKeeper)
	ctx, cancel := context.WithCancel(t.Context())
	entered, ended := make(chan error), make(chan struct{})
	r := &Registry{Servers: []string{server.Addr()}, User: "shop", Password: secret.New("hunter2"), Root: "/mall/"}
	go func() {
		defer close(ended)
		r.Run(ctx, slog.New(slog.NewTextHandler(t.Output(), nil)), func(ctx context.Context, s dubbo.RegistrySession) error {
			entered <- s.Provide(ctx, "com.shop.OrderService", "dubbo://10.0.0.1:20880/com.shop.OrderService?a=b")
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	if err := <-entered; err != nil {
		t.Fatal(err)
	}
	other, events, err := zk.Connect([]string{server.Addr()}, 4*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	path := "/mall/com.shop.OrderService/providers/dubbo%3A%2F%2F10.0.0.1%3A20880%2Fcom.shop.OrderService%3Fa%3Db"
	if _, err := other.Set(path, []byte("x"), -1); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("another client may change what is entered: %v", err)
	}
	other.Close()
	for range events {
	}
	cancel()
	<-ended
}

// Java and Dubbo for Go have them in different places.
func TestMetadataAreWhereJavaAndDubboForGoLookForThem(t *testing.T) {
	server := brokers.ForTest(t, brokers.ZooKeeper)
	ctx, cancel := context.WithCancel(t.Context())
	other, events, err := zk.Connect([]string{server.Addr()}, 4*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	r := &Registry{Servers: []string{server.Addr()}}
	go r.Run(ctx, slog.New(slog.NewTextHandler(t.Output(), nil)), func(ctx context.Context, s dubbo.RegistrySession) error {
		defer close(ended)
		if err := s.PutMetadata(ctx, "shop", "r1", []byte("node")); err != nil {
			t.Error(err)
		}
		for _, path := range []string{"/dubbo/metadata/shop/r1", "/dubbo/shop/r1"} {
			if text, _, err := other.Get(path); err != nil || string(text) != "node" {
				t.Errorf("%s is %q, %v", path, text, err)
			}
		}
		if _, err := other.Create("/dubbo/shop/r2", []byte("other"), 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Error(err)
		}
		if text, err := s.Metadata(ctx, "shop", "r2"); err != nil || string(text) != "other" {
			t.Errorf("the metadata of Dubbo for Go are %q, %v", text, err)
		}
		if _, err := s.Metadata(ctx, "shop", "r3"); !errors.Is(err, zk.ErrNoNode) {
			t.Errorf("those that are not there: %v", err)
		}
		cancel()
		return ctx.Err()
	})
	<-ended
	other.Close()
	for range events {
	}
}

func TestAServerThatStandsStillDoesNotHoldUpTheEnd(t *testing.T) {
	server := brokers.ForTest(t, brokers.ZooKeeper)
	if err := server.Suspend(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	r := &Registry{Servers: []string{server.Addr()}}
	r.Run(ctx, slog.New(slog.DiscardHandler), nil)
	if took := time.Since(begun); took > 2*goodbyeTimeout {
		t.Errorf("the end took %v", took)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
}

// FuzzEntries reads what anybody may have written into ZooKeeper.
func FuzzEntries(f *testing.F) {
	f.Add([]byte(`{"name":"java-shop","id":"192.0.2.2:20991","address":"192.0.2.2","port":20991,"sslPort":null,"payload":{"@class":"org.apache.dubbo.registry.zookeeper.ZookeeperInstance","id":"192.0.2.2:20991","name":"java-shop","metadata":{"dubbo.endpoints":"[{\"port\":20991,\"protocol\":\"dubbo\"}]","dubbo.metadata.revision":"5fa520b17665cd1d6e306e9fe40767cb"}},"registrationTimeUTC":1795776827221,"serviceType":"DYNAMIC","uriSpec":null}`))
	f.Add([]byte("java-shop,java-shop2"))
	f.Add([]byte(" ,../x,\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if i, err := parseInstance("a", data); err == nil && (i.Host == "" || i.Port < 1 || i.Port > 0xffff) {
			t.Errorf("got %+v", i)
		}
		for _, name := range split(data) {
			if strings.Contains(name, "/") || name == ".." {
				t.Errorf("a name is %q", name)
			}
		}
	})
}
