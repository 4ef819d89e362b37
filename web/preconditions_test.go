package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/rest"
)

// reading is a service whose actions use package rest.
func reading() *sabir.Service {
	s := sabir.NewService("docs")
	type document struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	version, text := 7, "old"
	sabir.Handle(s, "get", func(ctx context.Context, in document) (document, error) {
		in.Text = text
		return in, rest.SetVersion(ctx, strconv.Itoa(version))
	}, sabir.Route("GET", "/docs/{id}"), sabir.Status(200, "ETag"))
	sabir.Handle(s, "put", func(ctx context.Context, in document) (document, error) {
		current := ""
		if in.ID != "new" {
			current = strconv.Itoa(version)
		}
		if err := rest.CheckVersion(ctx, current); err != nil {
			return document{}, err
		}
		if in.ID == "copy" { // whose own version is none of the caller's business
			return sabir.Call[document](ctx, sabir.NodeFromContext(ctx), "docs.create", document{ID: "new", Text: in.Text})
		}
		return in, rest.SetVersion(ctx, current+"0")
	}, sabir.Route("PUT", "/docs/{id}"), sabir.Status(200, "ETag"))
	sabir.Handle(s, "create", func(ctx context.Context, in document) (document, error) { return in, rest.CheckVersion(ctx, "") })
	type list struct {
		rest.Paging
		Tag string `json:"tag"`
	}
	sabir.Handle(s, "list", func(ctx context.Context, in list) (rest.Page[int], error) {
		from, items, next := 0, []int{}, ""
		if err := in.ReadCursor(&from); err != nil {
			return rest.Page[int]{}, err
		}
		for i := from; i < min(from+in.Limit, 5); i++ {
			items = append(items, i)
		}
		if from+in.Limit < 5 {
			var err error
			if next, err = rest.Cursor(from + in.Limit); err != nil {
				return rest.Page[int]{}, err
			}
		}
		return rest.NewPage(ctx, items, next)
	}, sabir.Route("GET", "/docs"))
	sabir.HandleStream(s, "file", func(ctx context.Context, st *sabir.Stream[document, []byte]) error {
		in, err := st.Recv()
		if err != nil {
			return err
		}
		switch in.ID {
		case "plain":
			return st.Send([]byte("plain"))
		case "broken":
			return rest.Download(ctx, st, broken{strings.NewReader("0123456789")}, rest.File{})
		}
		return rest.Download(ctx, st, bytes.NewReader(content), rest.File{Type: "text/plain", Name: "d ü.txt", Version: "f1", Modified: time.Unix(1700000000, 0)})
	}, sabir.Route("GET", "/files/{id}"))
	return s
}

// content is longer than what goes in one piece.
var content = []byte(strings.Repeat("0123456789", 10_000))

// broken is a file that cannot be read to its end.
type broken struct{ *strings.Reader }

func (b broken) Read(p []byte) (int, error) { return 0, errors.New("the disk is gone") }

// everywhere runs a check against the service on the node that answers, and on another one.
func everywhere(t *testing.T, check func(t *testing.T, base string)) {
	alone := start(t, sabir.Serve(reading()), sabir.HTTP(":0"))
	t.Run("here", func(t *testing.T) { check(t, "http://"+alone.HTTPAddr()) })
	startAs(t, "worker", sabir.Join("mem://"+t.Name()), sabir.Serve(reading()))
	for name, group := range map[string]string{"behind a gateway": "", "behind a gateway with middlewares": "/g"} {
		options := []sabir.NodeOption{sabir.Join("mem://" + t.Name())}
		if group == "" {
			options = append(options, sabir.HTTP(":0", With(Config{Forward: []string{"docs.**"}})))
		} else {
			options = append(options, sabir.HTTP(":0", With(Config{Forward: []string{"docs.**"}, Groups: map[string]Config{group: {Services: []string{"docs"}, Use: []sabir.Wrapper{sabir.RequestIDs()}}}})))
		}
		node := startAs(t, "gateway"+strings.Trim(group, "/"), options...)
		if err := node.WaitFor(t.Context(), "docs"); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { check(t, "http://"+node.HTTPAddr()+group) })
	}
}

func TestConditionalRequestsAreAnsweredByTheVersionThatTheHandlerGives(t *testing.T) {
	everywhere(t, func(t *testing.T, base string) {
		for _, test := range []struct {
			method, path string
			headers      []string
			status       int
			tag          string
		}{
			{"GET", "/docs/1", nil, 200, `"7"`},
			{"HEAD", "/docs/1", nil, 200, `"7"`},
			{"GET", "/docs/1", []string{`If-None-Match: "6", W/"7"`}, 304, `"7"`},
			{"HEAD", "/docs/1", []string{`If-None-Match: *`}, 304, `"7"`},
			{"GET", "/docs/1", []string{`If-None-Match: "6"`}, 200, `"7"`},
			{"GET", "/docs/1", []string{`If-Match: "6"`}, 412, ""},
			{"GET", "/docs/1", []string{`If-Match: "7"`}, 200, `"7"`},
			{"PUT", "/docs/1", nil, 200, `"70"`},
			{"PUT", "/docs/1", []string{`If-Match: "7"`}, 200, `"70"`},
			{"PUT", "/docs/1", []string{`If-Match: "5"`, `If-Match: "7"`}, 200, `"70"`},
			{"PUT", "/docs/1", []string{`If-Match: "6"`}, 412, ""},
			{"PUT", "/docs/1", []string{`If-Match: W/"7"`}, 412, ""},
			{"PUT", "/docs/1", []string{`If-None-Match: *`}, 412, ""},
			{"PUT", "/docs/new", []string{`If-None-Match: *`}, 200, `"0"`},
			{"PUT", "/docs/new", []string{`If-Match: *`}, 412, ""},
			{"PUT", "/docs/copy", []string{`If-Match: "7"`}, 200, ""},
			{"POST", "/docs/put", []string{`If-Match: "6"`}, 412, ""},
		} {
			body := ""
			if test.method == "PUT" || test.method == "POST" {
				body = `{"text":"new"}`
			}
			got := ask(t, test.method, base+test.path, body, test.headers...)
			if got.status != test.status || test.tag != "" && got.header.Get("ETag") != test.tag || test.status == 304 && got.body != "" {
				t.Errorf("%s %s %v: %d %v %s", test.method, test.path, test.headers, got.status, got.header, got.body)
			}
			if test.status == 412 && test.method != "HEAD" && got.problem(t).Name != "VersionMismatch" {
				t.Errorf("%s %s %v: %s", test.method, test.path, test.headers, got.body)
			}
		}
	})
}

func TestAConditionOfABatchIsNoneOfItsCalls(t *testing.T) {
	node := start(t, sabir.Serve(reading()), sabir.HTTP(":0"))
	got := post(t, "http://"+node.HTTPAddr()+"/batch", `[{"action":"docs.put","input":{"id":"1"}},{"action":"docs.list","input":{"limit":2}}]`, `If-Match: "6"`)
	if !strings.Contains(got.body, `[{"status":200`) || !strings.Contains(got.body, `"next":`) || strings.Contains(got.body, "Link") {
		t.Error(got.body)
	}
}

func TestPagesAreLinked(t *testing.T) {
	everywhere(t, func(t *testing.T, base string) {
		next, all, pages := "/docs?limit=2&tag=a%26b", "", 0
		for next != "" && pages < 5 {
			got := ask(t, "GET", base+next, "")
			all, pages = all+got.body, pages+1
			link := got.header.Get("Link")
			if link == "" {
				break
			}
			query, ok := strings.CutPrefix(link, "<?")
			query, ok2 := strings.CutSuffix(query, `>; rel="next"`)
			if !ok || !ok2 || !strings.Contains(query, "tag=a%26b") || !strings.Contains(query, "limit=2") {
				t.Fatalf("the link is %s", link)
			}
			next = "/docs?" + query
		}
		if want := `{"items":[0,1],"next":"Mg"}{"items":[2,3],"next":"NA"}{"items":[4]}`; all != want || pages != 3 {
			t.Errorf("%d pages: %s", pages, all)
		}
		if got := ask(t, "GET", base+"/docs?cursor=%21", ""); got.status != 400 || got.problem(t).Name != "BadCursor" {
			t.Errorf("a cursor that is none: %d %s", got.status, got.body)
		}
		if got := post(t, base+"/docs/list", `{"limit":2}`); got.status != 200 || got.header.Get("Link") != "" {
			t.Errorf("a call that cannot be a link: %d %v", got.status, got.header)
		}
	})
}

func TestDownloadsGoOnWhereTheyBrokeOff(t *testing.T) {
	everywhere(t, func(t *testing.T, base string) {
		size := len(content)
		for _, test := range []struct {
			method  string
			headers []string
			status  int
			body    []byte
			says    map[string]string
		}{
			{"GET", nil, 200, content, map[string]string{"Content-Length": strconv.Itoa(size), "Accept-Ranges": "bytes", "Etag": `"f1"`, "Content-Type": "text/plain",
				"Content-Disposition": "attachment; filename*=utf-8''d%20%C3%BC.txt", "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"}},
			{"HEAD", nil, 200, nil, map[string]string{"Content-Length": strconv.Itoa(size), "Accept-Ranges": "bytes"}},
			{"GET", []string{"Range: bytes=10-14"}, 206, content[10:15], map[string]string{"Content-Range": fmt.Sprintf("bytes 10-14/%d", size), "Content-Length": "5"}},
			{"GET", []string{"Range: bytes=99990-"}, 206, content[99990:], map[string]string{"Content-Range": fmt.Sprintf("bytes 99990-99999/%d", size)}},
			{"GET", []string{"Range: bytes=-3"}, 206, content[size-3:], nil},
			{"GET", []string{"Range: bytes=0-4", `If-Range: "f1"`}, 206, content[:5], nil},
			{"GET", []string{"Range: bytes=0-4", `If-Range: "f0"`}, 200, content, nil},
			{"GET", []string{"Range: bytes=0-4", "If-Range: Tue, 14 Nov 2023 22:13:20 GMT"}, 206, content[:5], nil},
			{"GET", []string{"Range: lines=0-4"}, 416, nil, nil},
			{"GET", []string{"Range: bytes=100000-"}, 416, nil, map[string]string{"Content-Range": fmt.Sprintf("bytes */%d", size)}},
			{"GET", []string{`If-None-Match: "f1"`}, 304, []byte{}, map[string]string{"Etag": `"f1"`, "Content-Type": ""}},
			{"GET", []string{"If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT"}, 304, []byte{}, nil},
			{"GET", []string{`If-Match: "f0"`}, 412, nil, nil},
		} {
			got := ask(t, test.method, base+"/files/a", "", test.headers...)
			if got.status != test.status || test.body != nil && got.body != string(test.body) {
				t.Errorf("%s %v: %d, %d bytes, %v", test.method, test.headers, got.status, len(got.body), got.header)
			}
			for name, want := range test.says {
				if got.header.Get(name) != want {
					t.Errorf("%s %v: %s is %q, want %q", test.method, test.headers, name, got.header.Get(name), want)
				}
			}
			if name := map[int]string{412: "VersionMismatch", 416: "RangeNotSatisfiable"}[test.status]; name != "" && got.problem(t).Name != name {
				t.Errorf("%s %v: %s", test.method, test.headers, got.body)
			}
		}
		parts := ask(t, "GET", base+"/files/a", "", "Range: bytes=0-1,10-11")
		if parts.status != 206 || !strings.HasPrefix(parts.header.Get("Content-Type"), "multipart/byteranges") || strings.Count(parts.body, "Content-Range: bytes ") != 2 {
			t.Errorf("two parts: %d %v %s", parts.status, parts.header, parts.body)
		}
		if got := ask(t, "GET", base+"/files/plain", "", "Range: bytes=0-1"); got.status != 200 || got.body != "plain" || got.header.Get("Accept-Ranges") != "none" {
			t.Errorf("a handler that knows nothing of parts: %d %q %v", got.status, got.body, got.header)
		}
		if got := ask(t, "HEAD", base+"/files/plain", ""); got.status != 200 || got.header.Get("Content-Length") != "" {
			t.Errorf("the head of one that knows nothing of parts: %d %v", got.status, got.header)
		}
		response, err := http.Get(base + "/files/broken")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if _, err := io.ReadAll(response.Body); err == nil && response.StatusCode != http.StatusInternalServerError {
			t.Error("a file that cannot be read to its end looks whole")
		}
	})
}

func TestADownloadThatIsNotOverHTTPIsTheWholeContent(t *testing.T) {
	node := start(t, sabir.Serve(reading()))
	type document struct {
		ID string `json:"id"`
	}
	ctx := sabir.WithMetadata(t.Context(), "range", "bytes=0-4")
	stream, err := sabir.OpenStream[document, []byte](ctx, node, "docs.file")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := stream.Send(document{"a"}); err != nil {
		t.Fatal(err)
	}
	stream.CloseSend()
	var whole []byte
	for piece, err := range stream.All() {
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, piece...)
	}
	if !bytes.Equal(whole, content) {
		t.Errorf("%d bytes", len(whole))
	}
}
