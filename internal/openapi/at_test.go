package openapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/openapi"
)

type findBook struct {
	ID    int64     `json:"id" path:"id" validate:"min=1"`
	Since time.Time `json:"since"`
	Tags  []string  `json:"tags" query:"tag" validate:"max=3"`
}

type book struct {
	ID      int64            `json:"id"`
	Title   string           `json:"title" validate:"required,max=200"`
	Price   *float64         `json:"price"`
	Related []*book          `json:"related,omitempty"`
	Notes   map[string]any   `json:"notes"`
	Cover   []byte           `json:"cover"`
	Waiting time.Duration    `json:"waiting"`
	Copies  map[string]int32 `json:"copies"`
}

var errNoBook = sabir.NewError(sabir.CodeNotFound, "NoSuchBook", "there is no such book").WithData(findBook{})

// library is a node with the documentation of real types at /docs.
func library(t *testing.T, options ...gateway.HTTPOption) (address string) {
	t.Helper()
	books := sabir.NewService("books")
	sabir.Handle(books, "find", func(_ context.Context, in findBook) (book, error) { return book{ID: in.ID}, nil },
		sabir.Route("GET", "/books/{id}"), sabir.Errors(errNoBook), sabir.Example(findBook{ID: 1}, book{ID: 1, Title: "Dune"}))
	sabir.Handle(books, "add", func(_ context.Context, in book) (sabir.Empty, error) { return sabir.Empty{}, nil },
		sabir.Route("POST", "/books"), sabir.Deprecated("use nothing"))
	sabir.HandleStream(books, "read", func(_ context.Context, s *sabir.Stream[findBook, []byte]) error { return nil })
	node := sabir.NewNode(sabir.Serve(books), sabir.HTTP(":0", append(options, openapi.At("/docs", false))...))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return "http://" + node.HTTPAddr()
}

func download(t *testing.T, url, authorization string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", authorization)
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, body
}

func TestNodeDescribesItsOwnTypesValidly(t *testing.T) {
	address := library(t)
	status, doc := download(t, address+"/docs/openapi.json", "")
	if status != 200 {
		t.Fatalf("the node answers %d %s", status, doc)
	}
	if _, err := parsed(doc); err != nil {
		t.Errorf("%v\n%s", err, doc)
	}
	for _, path := range []string{"/books/find", "/books/{id}", "/books/add", "/books", "/books/read"} {
		if at(t, doc, "paths", path) == nil {
			t.Errorf("%s is missing; there are %v", path, keys(at(t, doc, "paths")))
		}
	}
	if at(t, doc, "paths", "/books/{id}", "get", "responses", "404", "content", "application/problem+json", "schema", "anyOf") == nil {
		t.Error("the declared error is missing")
	}
	if status, page := download(t, address+"/docs", ""); status != 200 || !strings.Contains(string(page), "docs/page.js") {
		t.Errorf("the page is %d %s", status, page)
	}
}

func TestNodeWithAKeyShowsThePageAndKeepsTheDocument(t *testing.T) {
	const key = "correct-horse-battery"
	address := library(t, gateway.Key(key))
	for _, c := range []struct {
		path, authorization string
		want                int
	}{{"/docs", "", 200}, {"/docs/page.js", "", 200}, {"/docs/openapi.json", "", 401}, {"/docs/openapi.json", "Bearer " + key, 200}} {
		if got, body := download(t, address+c.path, c.authorization); got != c.want {
			t.Errorf("%s with %q answers %d, want %d: %.100s", c.path, c.authorization, got, c.want, body)
		}
	}
}
