package dubbo_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/brokers"
)

type listening struct {
	Article string `json:"article"`
}

// prices has a stream of three values that lasts until its receiver has gone, which ended hears.
func prices(ended chan<- string) *sabir.Service {
	s := sabir.NewService("prices")
	sabir.HandleStream(s, "listen", func(ctx context.Context, st *sabir.Stream[listening, order]) error {
		in, err := st.Recv()
		if err != nil {
			return err
		}
		if in.Article == "none" {
			return sabir.NewError(sabir.CodeNotFound, "NoArticle", "no such article")
		}
		for i := range int32(3) {
			if err := st.Send(order{ID: in.Article, Amount: i}); err != nil {
				break
			}
		}
		<-ctx.Done()
		ended <- in.Article
		return ctx.Err()
	}, sabir.ServerStream())
	return s
}

// withCallback is PriceService of Java: void listen(String article, PriceListener listener).
func withCallback() dubbo.Interface {
	// doc: callback
	prices := dubbo.Interface{Name: "com.shop.PriceService", Service: "prices", Methods: []dubbo.Method{{Name: "listen", Parameters: []string{"java.lang.String", "com.shop.PriceListener"},
		Callback: &dubbo.Callback{Argument: 1, Interface: "com.shop.PriceListener", Method: "changed", Parameter: "com.shop.Order"}}}}
	// end
	return prices
}

// heard are the next values of an article that a program of Java prints.
func (p *process) heard(t *testing.T, article string, count int) (values []string) {
	t.Helper()
	late := time.After(waitLimit)
	for len(values) < count {
		select {
		case line, more := <-p.lines:
			if !more {
				t.Fatalf("the program has ended after %v", values)
			}
			if value, ok := strings.CutPrefix(line, article+" = "); ok {
				values = append(values, value)
			}
		case <-late:
			t.Fatalf("%d values of %s did not come: %v", count, article, values)
		}
	}
	return values
}

func TestACallbackOfJavaGetsTheValuesOfAStream(t *testing.T) {
	brokers.Slow(t)
	address, ended := freeAddress(t), make(chan string, 10)
	node := start(t, sabir.Serve(prices(ended)), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"dubbo://" + address: {withCallback()}}}))
	url := "dubbo://" + asJava(address) + "/com.shop.PriceService?listen.return=true&listen.1.callback=true&callbacks=1000"
	consumer := run(t, "PriceConsumer", url)
	consumer.until("ready")
	for _, article := range []string{"a", "b"} { // over one connection
		consumer.say(t, article)
		if got, want := consumer.heard(t, article, 3), []string{article + " x0 0.0 null", article + " x1 0.0 null", article + " x2 0.0 null"}; !slices.Equal(got, want) {
			t.Errorf("the callback got %q, want %q", got, want)
		}
	}
	consumer.say(t, "refuse") // whose callback throws
	if got := <-ended; got != "refuse" {
		t.Errorf("the stream of %s has ended", got)
	}
	if err := consumer.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gone := []string{<-ended, <-ended}
	if slices.Sort(gone); !slices.Equal(gone, []string{"a", "b"}) {
		t.Errorf("the streams of %v have ended, want those of the consumer that was killed", gone)
	}

	last := run(t, "PriceConsumer", url)
	last.until("ready")
	last.say(t, "c")
	last.heard(t, "c", 3)
	begun := time.Now()
	stop(t, node) // which waits for no callback
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the stop took %v", took)
	}
	if got := <-ended; got != "c" {
		t.Errorf("the stream of %s has ended", got)
	}
}

// say gives a program of Java a line.
func (p *process) say(t *testing.T, line string) {
	t.Helper()
	if _, err := p.in.Write([]byte(line + "\n")); err != nil {
		t.Fatal(err)
	}
}

func TestACallbackThatCannotWorkIsAnErrorOfTheStart(t *testing.T) {
	for want, change := range map[string]func(m *dubbo.Method){
		"is none of the 2 Parameters":           func(m *dubbo.Method) { m.Callback.Argument = 2 },
		"needs Interface, Method and Parameter": func(m *dubbo.Method) { m.Callback.Method = "" },
		"is no type as Java's source has it":    func(m *dubbo.Method) { m.Callback.Parameter = "com;shop" },
		"is none of the 0 Parameters":           func(m *dubbo.Method) { m.Parameters = nil },
	} {
		i := withCallback()
		change(&i.Methods[0])
		n := sabir.NewNode(sabir.Serve(prices(nil)), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"dubbo://127.0.0.1:0": {i}}}))
		if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
			_ = n.Stop(t.Context())
		}
	}
}

func TestWhatAJavaProviderPassesToACallbackIsAStream(t *testing.T) {
	brokers.Slow(t)
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	provider := run(t, "PriceProvider", port)
	provider.until("ready")
	node := start(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{"dubbo://" + address: {withCallback()}}}))
	for _, article := range []string{"a", "b"} { // over one connection
		next := int32(0)
		for value, err := range sabir.CallStream[order](t.Context(), node, "prices.listen", listening{article}) {
			if err != nil || value.ID != article || value.Amount != next {
				t.Fatalf("got %+v, %v, want %s x%d", value, err, article, next)
			}
			if next++; next == 1000 {
				break
			}
		}
		if got := provider.heard(t, "gone", 1); got[0] != article {
			t.Errorf("the provider calls back for %s no more, want %s", got[0], article)
		}
	}
	for _, err := range sabir.CallStream[order](t.Context(), node, "prices.listen", listening{"none"}) {
		if err == nil || !strings.Contains(err.Error(), "no such article") {
			t.Errorf("got %v, want the exception of the provider", err)
		}
	}
	for _, err := range sabir.CallStream[order](t.Context(), node, "prices.listen", listening{"c"}) {
		if err != nil {
			if !errors.Is(err, sabir.ErrLinkLost) {
				t.Errorf("the provider was killed: %v", err)
			}
			break
		}
		_ = provider.command.Process.Kill()
	}
}
