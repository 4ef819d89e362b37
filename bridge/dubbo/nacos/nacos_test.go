package nacos

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSettingsThatCannotWorkAreInTheLogAndSayWhatToDo(t *testing.T) {
	for want, r := range map[string]*Registry{
		"give the addresses of some in Servers": {},
		"no address such as 10.0.0.9:8848":      {Servers: []string{"nacos://root:hunter2@10.0.0.9:8848"}},
		"is no address such as":                 {Servers: []string{"10.0.0.9:65000"}}, // its port for gRPC is none
		"User and Password go together":         {Servers: []string{"10.0.0.9:8848"}, User: "ada"},
	} {
		var logged bytes.Buffer
		r.Run(t.Context(), slog.New(slog.NewTextHandler(&logged, nil)), nil)
		if !strings.Contains(logged.String(), want) || strings.Contains(logged.String(), "hunter2") {
			t.Errorf("the log says %q, want %q", logged.String(), want)
		}
	}
}

func TestAServerThatIsNotThereIsSaidWithThePortThatIsNeeded(t *testing.T) {
	said := make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := &Registry{Servers: []string{"127.0.0.1:1"}}
		r.Run(ctx, slog.New(slog.NewTextHandler(firstLine(said), nil)), nil)
	}()
	if line := <-said; !strings.Contains(line, "needs gRPC at") || !strings.Contains(line, "127.0.0.1:1001") {
		t.Errorf("the log says %q", line)
	}
	cancel()
	<-ended
}

// firstLine gets the first line of a log.
type firstLine chan string

func (l firstLine) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}

// A server that takes connections and answers nothing is as one that is not there.
func TestAServerThatAnswersNothingDoesNotHoldUpTheEnd(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	server := net.JoinHostPort("127.0.0.1", strconv.Itoa(listener.Addr().(*net.TCPAddr).Port-grpcOffset))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	r := &Registry{Servers: []string{server}}
	r.Run(ctx, slog.New(slog.DiscardHandler), nil)
	if took := time.Since(begun); took > goodbyeTimeout {
		t.Errorf("the end took %v", took)
	}
}

// FuzzNews reads what a server, or whoever wrote into it, says of a service.
func FuzzNews(f *testing.F) {
	f.Add("NotifySubscriberRequest", []byte(`{"requestId":"7","serviceInfo":{"name":"DEFAULT_GROUP@@providers:com.shop.X:1.0.0:","groupName":"DEFAULT_GROUP","lastRefTime":1796119727219,"hosts":[{"ip":"127.0.0.1","port":20880,"healthy":true,"enabled":true,"metadata":{"category":"providers","path":"com.shop.X","protocol":"dubbo","version":"1.0.0"}}]}}`))
	f.Add("NotifySubscriberRequest", []byte(`{"serviceInfo":{"name":"providers:com.shop.X:1.0.0:","hosts":[{"ip":"]","port":-1,"metadata":null}]}}`))
	f.Add("ConfigChangeNotifyRequest", []byte(`{"dataId":"com.shop.X","group":"mapping","tenant":""}`))
	f.Fuzz(func(t *testing.T, kind string, text []byte) {
		s := newSession(&connection{log: slog.New(slog.DiscardHandler)}, &Registry{})
		name := providersOf("com.shop.X", "1.0.0", "")
		s.services[name] = &service{asked: true, changed: make(chan struct{})}
		s.tell(kind, text)
		urls, _, err := s.Providers(t.Context(), "com.shop.X", "1.0.0", "")
		if err != nil || len(urls) > maxInstances {
			t.Errorf("%d URLs, %v", len(urls), err)
		}
		s.services["shop"] = s.services[name]
		instances, _, err := s.Instances(t.Context(), "shop")
		if err != nil {
			t.Error(err)
		}
		for _, i := range instances {
			if i.Host == "" || i.Port < 1 || i.Port > 0xffff {
				t.Errorf("got %+v", i)
			}
		}
		var m payload
		_ = messages{}.Unmarshal(text, &m) // it must not fail in another way than by its error
		for _, name := range split(string(text)) {
			if name == "" || strings.Contains(name, ",") {
				t.Errorf("a name is %q", name)
			}
		}
	})
}

func TestAnInstanceIsTheURLThatWasEntered(t *testing.T) {
	const entered = "tri://10.0.0.1:50051/com.shop.X?group=eu&methods=a%2Cb&version=1.0.0"
	i, err := instanceOf(entered)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	var read instance
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(read.url())
	if err != nil || u.Scheme != "tri" || u.Host != "10.0.0.1:50051" || u.Path != "/com.shop.X" || u.Query().Get("methods") != "a,b" || u.Query().Get("category") != "providers" {
		t.Errorf("got %s, %v", read.url(), err)
	}
	if name := providersOf("com.shop.Outer$X", u.Query().Get("version"), u.Query().Get("group")); name != "providers:com.shop.Outer___X:1.0.0:eu" {
		t.Errorf("the service is %s", name)
	}
}
