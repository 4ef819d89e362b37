package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

func startStreams(t *testing.T) (node *sabir.Node, base string) {
	t.Helper()
	s := sabir.NewService("sums")
	sabir.HandleStream(s, "total", func(_ context.Context, stream *sabir.Stream[int, int]) error {
		total := 0
		for {
			n, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return stream.Send(total)
			}
			if err != nil {
				return err
			}
			total += n
		}
	}, sabir.ClientStream())
	node = start(t, sabir.Serve(s), sabir.HTTP("127.0.0.1:0", With(Config{Events: []string{"sums.*"}})))
	return node, "http://" + node.HTTPAddr()
}

// As the OpenAPI document says: it has one value, so there are no lines of them.
func TestAClientStreamAnswersWithJSONWhereNoFormIsAskedFor(t *testing.T) {
	_, base := startStreams(t)
	for accept, want := range map[string]string{"": "application/json", "*/*": "application/json", "application/x-ndjson": "application/x-ndjson"} {
		var headers []string
		if accept != "" {
			headers = []string{"Accept: " + accept}
		}
		got := ask(t, "POST", base+"/sums/total", "6", headers...)
		if kind := got.header.Get("Content-Type"); got.status != 200 || kind != want {
			t.Errorf("for Accept %q: %d, %s: %s", accept, got.status, kind, got.body)
		}
	}
}

// What axios and Angular send unless told otherwise takes lines too.
func TestAServerStreamComesInLinesToWhoTakesJSONAndAnythingElse(t *testing.T) {
	s := sabir.NewService("sums")
	sabir.HandleStream(s, "count", func(_ context.Context, stream *sabir.Stream[int, int]) error {
		if _, err := stream.Recv(); err != nil {
			return err
		}
		for i := range 3 {
			if err := stream.Send(i); err != nil {
				return err
			}
		}
		return nil
	}, sabir.ServerStream())
	node := start(t, sabir.Serve(s), sabir.HTTP("127.0.0.1:0"))
	for accept, want := range map[string]int{"application/json, text/plain, */*": 200, "application/json, */*;q=0.1": 200, "application/*": 200,
		"application/json": 400, "application/json, */*;q=0": 400} {
		got := ask(t, "POST", "http://"+node.HTTPAddr()+"/sums/count", "1", "Accept: "+accept)
		if got.status != want || want == 200 && got.body != "0\n1\n2\n" {
			t.Errorf("%s: %d %s", accept, got.status, got.body)
		}
	}
}

// axios had the first chunk of a file as base64, or 400 where there were more.
func TestADownloadComesAsItIsToWhoTakesJSONAndAnythingElse(t *testing.T) {
	s := sabir.NewService("files")
	sabir.HandleStream(s, "get", func(_ context.Context, stream *sabir.Stream[sabir.Empty, []byte]) error {
		for _, chunk := range []string{"one, ", "two"} {
			if err := stream.Send([]byte(chunk)); err != nil {
				return err
			}
		}
		return nil
	}, sabir.Route("GET", "/files"))
	node := start(t, sabir.Serve(s), sabir.HTTP("127.0.0.1:0"))
	for accept, want := range map[string]int{"application/json, text/plain, */*": 200, "application/json": 400} {
		got := ask(t, "GET", "http://"+node.HTTPAddr()+"/files", "", "Accept: "+accept)
		if got.status != want || want == 200 && (got.body != "one, two" || got.header.Get("Content-Type") != "application/octet-stream") {
			t.Errorf("%s: %d %s", accept, got.status, got.body)
		}
	}
}

func TestAnEmptyInputIsNoFaultOfTheServer(t *testing.T) {
	s := sabir.NewService("first")
	first := func(_ context.Context, stream *sabir.Stream[int, int]) error {
		n, err := stream.Recv()
		if err != nil {
			return err
		}
		return stream.Send(n)
	}
	sabir.HandleStream(s, "both", first)
	sabir.HandleStream(s, "server", first, sabir.ServerStream())
	sabir.HandleStream(s, "client", first, sabir.ClientStream())
	node := start(t, sabir.Serve(s), sabir.HTTP("127.0.0.1:0"))
	for name, want := range map[string]int{"both": 200, "server": 400, "client": 400} {
		got := ask(t, "POST", "http://"+node.HTTPAddr()+"/first/"+name, "")
		if got.status != want || want == 400 && got.problem(t).Name != "BadInput" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if got := ask(t, "POST", "http://"+node.HTTPAddr()+"/first/"+name, "7"); got.status != 200 || strings.TrimSpace(string(got.body)) != "7" {
			t.Errorf("%s with a value: %d %s", name, got.status, got.body)
		}
	}
}

func TestATimeLimitThatCannotBeReadIsRefused(t *testing.T) {
	shopNode, _ := startShop(t)
	streams, _ := startStreams(t)
	for _, limit := range []string{"", "soon", "-1", "0"} {
		for node, path := range map[*sabir.Node]string{shopNode: "/shop/hello", streams: "/sums/total"} {
			body := map[string]string{"/shop/hello": `{"name":"Ada"}`, "/sums/total": "1"}[path]
			r, text := exchangeRaw(t, node, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Request-Timeout: %s\r\nContent-Length: %d\r\n\r\n%s",
				path, limit, len(body), body))
			if r.StatusCode != 400 {
				t.Errorf("%s with %q: %d %s", path, limit, r.StatusCode, text)
			}
		}
	}
}

func TestTheAddressOfEventsNamesItsMethodToOthers(t *testing.T) {
	_, base := startStreams(t)
	got := ask(t, "TRACE", base+"/events", "")
	if got.status != 405 || !strings.Contains(got.header.Get("Allow"), "GET") {
		t.Errorf("%d, Allow %q: %s", got.status, got.header.Get("Allow"), got.body)
	}
}
