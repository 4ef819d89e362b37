package web

import (
	"context"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

type orderLine struct {
	Order  int    `json:"order"`
	Item   string `json:"item"`
	Tenant string `json:"tenant" header:"X-Tenant"`
}

func lineService() *sabir.Service {
	s := sabir.NewService("lines")
	sabir.HandleStream(s, "add", func(_ context.Context, st *sabir.Stream[orderLine, orderLine]) error {
		for in, err := range st.All() {
			if err != nil {
				return err
			}
			if err := st.Send(in); err != nil {
				return err
			}
		}
		return nil
	}, sabir.Route("POST", "/orders/{order}/lines"))
	sabir.HandleStream(s, "put", func(ctx context.Context, st *sabir.Stream[[]byte, string]) error {
		var all []byte
		for chunk, err := range st.All() {
			if err != nil {
				return err
			}
			all = append(all, chunk...)
		}
		given := sabir.InfoFromContext(ctx).Metadata
		return st.Send(given["folder"] + "|" + given["name"] + "|" + string(all))
	}, sabir.ClientStream(), sabir.Route("PUT", "/files/{folder}/{name...}"))
	return s
}

func TestInputsOfAStreamHaveWhatItsAddressAndHeadersSay(t *testing.T) {
	alone := start(t, sabir.Serve(lineService()), sabir.HTTP(":0"))
	startAs(t, "worker", sabir.Join("mem://"+t.Name()), sabir.Serve(lineService()))
	forwarding := startAs(t, "gateway", sabir.Join("mem://"+t.Name()), sabir.HTTP(":0", With(Config{Forward: []string{"lines.**"}})))
	if err := forwarding.WaitFor(t.Context(), "lines"); err != nil {
		t.Fatal(err)
	}
	const json, lines, bytes = "Content-Type: application/json", "Content-Type: application/x-ndjson", "Content-Type: application/octet-stream"
	for where, node := range map[string]*sabir.Node{"here": alone, "on another node": forwarding} {
		for about, test := range map[string]struct {
			method, path, kind, body string
			status                   int
			want                     string
		}{
			"one input":                       {"POST", "/orders/7/lines", json, `{"item":"rope"}`, 200, `{"order":7,"item":"rope","tenant":"t1"}`},
			"several":                         {"POST", "/orders/7/lines", lines, "{\"item\":\"rope\"}\n{\"item\":\"tar\"}\n", 200, "{\"order\":7,\"item\":\"rope\",\"tenant\":\"t1\"}\n{\"order\":7,\"item\":\"tar\",\"tenant\":\"t1\"}"},
			"an empty body":                   {"POST", "/orders/7/lines", "", "", 200, `{"order":7,"item":"","tenant":"t1"}`},
			"a parameter of the wrong kind":   {"POST", "/orders/many/lines", lines, `{"item":"rope"}`, 400, `"in":"path"`},
			"a field of the path in the body": {"POST", "/orders/7/lines", json, `{"order":8,"item":"rope"}`, 400, `BadInput`},
			"a file":                          {"PUT", "/files/ada/a%20b/c.txt", bytes, "hello", 200, `"ada|a b/c.txt|hello"`},
			"an empty file":                   {"PUT", "/files/ada/empty", bytes, "", 200, `"ada|empty|"`},
		} {
			headers := []string{"X-Tenant: t1", "Accept: application/x-ndjson"}
			if test.kind != "" {
				headers = append(headers, test.kind)
			}
			got := ask(t, test.method, "http://"+node.HTTPAddr()+test.path, test.body, headers...)
			if got.status != test.status || !strings.Contains(got.body, test.want) {
				t.Errorf("%s, %s: %d %s, want %d with %s", about, where, got.status, got.body, test.status, test.want)
			}
		}
	}
}

func TestAnUploadWithoutABodyHasNoRoute(t *testing.T) {
	s := sabir.NewService("files")
	sabir.HandleStream(s, "put", func(context.Context, *sabir.Stream[[]byte, string]) error { return nil }, sabir.Route("GET", "/files/{name}"))
	err := sabir.NewNode(sabir.Serve(s)).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "an upload needs a body; use PUT, POST or PATCH") {
		t.Errorf("got %v", err)
	}
}
