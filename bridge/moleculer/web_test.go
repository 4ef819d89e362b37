package moleculer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
)

type article struct {
	ID    string   `json:"id" validate:"required,max=4"`
	Count int      `json:"count" validate:"min=1,max=9"`
	Kind  string   `json:"kind,omitempty" validate:"omitempty,oneof=tea coffee"`
	Tags  []string `json:"tags,omitempty" validate:"max=2"`
}

// page and numbered have fields that are no texts.
type page struct {
	Shelf  int      `json:"shelf"`
	From   uint64   `json:"from,omitempty"`
	Weight float64  `json:"weight,omitempty"`
	Sold   bool     `json:"sold,omitempty"`
	Tags   []string `json:"tags,omitempty"`
	Years  []int    `json:"years,omitempty"`
}

type numbered struct {
	Number int64  `json:"number"`
	Note   string `json:"note"`
	Amount int    `json:"amount"`
}

// store is a service with routes, and a stream that takes files.
func store() *sabir.Service {
	s := sabir.NewService("store", sabir.Version(2))
	sabir.Handle(s, "get", func(_ context.Context, in struct {
		ID string `json:"id"`
	}) (article, error) {
		if in.ID == "none" {
			return article{}, sabir.NewError(sabir.CodeNotFound, "ArticleNotFound", "there is no such article")
		}
		return article{ID: in.ID, Count: 1}, nil
	}, sabir.Route("GET", "/articles/{id}"))
	sabir.Handle(s, "page", func(_ context.Context, in page) (page, error) { return in, nil }, sabir.Route("GET", "/shelves/{shelf}"))
	sabir.Handle(s, "order", func(_ context.Context, in numbered) (numbered, error) { return in, nil }, sabir.Route("POST", "/orders/{number}"))
	sabir.HandleStream(s, "watch", func(_ context.Context, articles *sabir.Stream[page, page]) error {
		in, err := articles.Recv()
		if err != nil {
			return err
		}
		return articles.Send(in)
	}, sabir.ClientStream(), sabir.Route("GET", "/watched/{shelf}"))
	sabir.Handle(s, "put", func(ctx context.Context, in article) (article, error) {
		return in, errors.Join(moleculer.SetMeta(ctx, "$statusCode", 201), moleculer.SetMeta(ctx, "$location", "/articles/"+in.ID))
	}, sabir.Route("POST", "/articles"))
	sabir.Handle(s, "picture", func(ctx context.Context, _ sabir.Empty) ([]byte, error) {
		return []byte{137, 'P', 0, 255}, moleculer.SetMeta(ctx, "$responseType", "image/png")
	}, sabir.Route("GET", "/picture"))
	sabir.HandleStream(s, "upload", func(ctx context.Context, files *sabir.Stream[[]byte, map[string]any]) error {
		size := 0
		for piece, err := range files.All() {
			if err != nil {
				return err
			}
			size += len(piece)
		}
		if size == 0 {
			return sabir.NewError(sabir.CodeInvalidArgument, "EmptyFile", "the file is empty")
		}
		params, _ := moleculer.Params(ctx).(map[string]any)
		return files.Send(map[string]any{"size": size, "name": params["name"], "file": params["$filename"]})
	}, sabir.ClientStream())
	return s
}

// ask sends a request to a gateway, and returns the status, a header and the text of its answer.
func ask(t *testing.T, method, url, kind string, body io.Reader, header string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(response.Status[:3]+" "+response.Header.Get(header)+" "+string(text)), " ")
}

// form is a form with a field and a file.
func form(t *testing.T, content string) (body io.Reader, kind string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	err := w.WriteField("name", "Ada")
	file, failed := w.CreateFormFile("file", "a.txt")
	if err = errors.Join(err, failed); err == nil {
		_, err = io.WriteString(file, content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return &out, w.FormDataContentType()
}

// The gateway is moleculer-web, of the version in testdata/node/package.json: it gives an action the addresses of sabir.Route, and takes statuses and
// types of answers from meta.
func TestAMoleculerGatewayServesRoutesAndUploads(t *testing.T) {
	a := newTCPPlace(t)
	a.node("go", []sabir.Servable{store()}, moleculer.Config{Expose: []string{"store.*"}})
	js := a.peer("5", "js")
	js.must(nil, "wait", "v2.store")
	var base string
	js.must(&base, "gateway", "v2.store.upload")
	full, kindOfFull := form(t, "content")
	empty, kindOfEmpty := form(t, "")
	const asJSON = "application/json"
	for _, c := range []struct {
		method, path, kind string
		body               io.Reader
		header, want       string
	}{
		{"GET", "/articles/7", "", nil, "", `200 {"id":"7","count":1}`},
		{"GET", "/articles/none", "", nil, "", `404 {"name":"MoleculerClientError","message":"there is no such article","code":404,"type":"ArticleNotFound"}`},
		{"POST", "/articles", asJSON, strings.NewReader(`{"id":"7","count":2}`), "Location", `201 /articles/7 {"id":"7","count":2}`},
		{"POST", "/articles", asJSON, strings.NewReader(`{"id":"7"}`), "", `422 {"name":"ValidationError","message":"the input of v2.store.put is not valid: count: count must be 1 or greater",` +
			`"code":422,"type":"VALIDATION_ERROR","data":[{"type":"min","field":"count","message":"count must be 1 or greater","actual":0,"nodeID":"go","action":"v2.store.put"}]}`},
		{"GET", "/shelves/7", "", nil, "", `200 {"shelf":7}`},
		{"GET", "/shelves/7?from=12345&weight=1.5&sold=true&tags=a&years=1999", "", nil, "",
			`200 {"shelf":7,"from":12345,"weight":1.5,"sold":true,"tags":["a"],"years":[1999]}`},
		{"GET", "/shelves/-7?sold=false&tags=1&tags=true&years=1999&years=2001", "", nil, "", `200 {"shelf":-7,"tags":["1","true"],"years":[1999,2001]}`},
		{"GET", "/watched/7?years=1", "", nil, "", `200 {"shelf":7,"years":[1]}`},
		{"GET", "/shelves/x", "", nil, "", `422 {"name":"ValidationError","message":"the input of v2.store.page cannot be read: json: at /shelf: want integer, got string (offset 9)",` +
			`"code":422,"type":"VALIDATION_ERROR","data":[{"type":"integer","field":"shelf","message":"the input of v2.store.page cannot be read: json: at /shelf: want integer, got string (offset 9)","nodeID":"go","action":"v2.store.page"}]}`},
		{"POST", "/orders/12", asJSON, strings.NewReader(`{"note":"34","amount":5}`), "", `200 {"number":12,"note":"34","amount":5}`},
		{"POST", "/orders/12", asJSON, strings.NewReader(`{"note":"34","amount":"5"}`), "", `422 {"name":"ValidationError","message":"the input of v2.store.order cannot be read: json: at /amount: want integer, got string (offset 22)",` +
			`"code":422,"type":"VALIDATION_ERROR","data":[{"type":"integer","field":"amount","message":"the input of v2.store.order cannot be read: json: at /amount: want integer, got string (offset 22)","nodeID":"go","action":"v2.store.order"}]}`},
		{"GET", "/picture", "", nil, "Content-Type", "200 image/png \x89P\x00\xff"},
		{"POST", "/up", kindOfFull, full, "", `200 [{"file":"a.txt","name":"Ada","size":7}]`},
		{"POST", "/up", kindOfEmpty, empty, "", `400 {"name":"MoleculerClientError","message":"the file is empty","code":400,"type":"EmptyFile"}`},
		{"PUT", "/up/Bob", "text/plain", strings.NewReader("content"), "", `200 {"file":null,"name":"Bob","size":7}`},
	} {
		if got := ask(t, c.method, base+c.path, c.kind, c.body, c.header); got != c.want {
			t.Errorf("%s %s: %s\nwant %s", c.method, c.path, got, c.want)
		}
	}
}

// The meta is that which moleculer-web 0.10 sends with a file of a form.
func TestFormsOfOlderGatewaysAreParams(t *testing.T) {
	a := newTCPPlace(t)
	a.node("go", []sabir.Servable{store()}, moleculer.Config{Expose: []string{"store.*"}})
	js := a.peer("4", "js")
	js.must(nil, "wait", "v2.store")
	var got struct{ Values []map[string]any }
	js.must(&got, "stream", "v2.store.upload", []string{"content"}, map[string]any{"name": "of the query"}, map[string]any{"$multipart": map[string]string{"name": "Ada"}, "fieldname": "file", "filename": "a.txt",
		"encoding": "7bit", "mimetype": "text/plain"})
	if want := []map[string]any{{"file": "a.txt", "name": "Ada", "size": 7.0}}; !reflect.DeepEqual(got.Values, want) {
		t.Errorf("the handler got %v, want %v", got.Values, want)
	}
}

func TestMoleculersValidatorReadsTheParamsOfActions(t *testing.T) {
	a := newTCPPlace(t)
	a.node("go", []sabir.Servable{store()}, moleculer.Config{Expose: []string{"store.*"}})
	js := a.peer("5", "js")
	js.must(nil, "wait", "v2.store")
	for params, want := range map[*article]string{
		{ID: "7", Count: 9, Kind: "tea", Tags: []string{"a", "b"}}: "",
		{ID: "7", Count: 1}:      "",
		{ID: "12345", Count: 10}: "count numberMax, id stringMax",
		{ID: "7", Count: 1, Kind: "milk", Tags: []string{"a", "b", "c"}}: "kind enumValue, tags arrayMax",
	} {
		var broken []string
		js.must(&broken, "validate", "v2.store.put", params)
		if got := strings.Join(broken, ", "); got != want {
			t.Errorf("%+v breaks %q, want %q", *params, got, want)
		}
	}
}
