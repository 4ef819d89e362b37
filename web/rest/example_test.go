package rest_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/rest"
)

type Note struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Version int    `json:"version"`
}

var stored = Note{ID: "1", Text: "rope", Version: 7}

// doc: versions
func read(ctx context.Context, in Note) (Note, error) {
	return stored, rest.SetVersion(ctx, strconv.Itoa(stored.Version)) // ETag: "7"
}

func change(ctx context.Context, in Note) (Note, error) {
	if err := rest.CheckVersion(ctx, strconv.Itoa(stored.Version)); err != nil {
		return Note{}, err // 412: the caller has read another version
	}
	stored.Text, stored.Version = in.Text, stored.Version+1
	return stored, rest.SetVersion(ctx, strconv.Itoa(stored.Version))
}

// end

// doc: pages
type FindNotes struct {
	rest.Paging        // limit and cursor, of the query
	Word        string `json:"word"`
}

func find(ctx context.Context, in FindNotes) (rest.Page[int], error) {
	after := 0
	if err := in.ReadCursor(&after); err != nil {
		return rest.Page[int]{}, err
	}
	items, last, more := page(after, in.Limit)
	next := ""
	if more {
		var err error
		if next, err = rest.Cursor(last); err != nil {
			return rest.Page[int]{}, err
		}
	}
	return rest.NewPage(ctx, items, next) // Link: <?cursor=Mg&limit=2&word=rope>; rel="next"
}

// end

func page(after, limit int) (items []int, last int, more bool) {
	for last = after; last < after+limit && last < 5; {
		last++
		items = append(items, last)
	}
	return items, last, last < 5
}

type GetFile struct {
	Name string `json:"name"`
}

var folder = os.TempDir()

// doc: download
func download(ctx context.Context, s *sabir.Stream[GetFile, []byte]) error {
	in, err := s.Recv()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.Open(in.Name)
	if err != nil {
		return sabir.NewError(sabir.CodeNotFound, "NoFile", "there is no such file")
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return rest.Download(ctx, s, f, rest.File{Name: in.Name, Modified: info.ModTime()})
}

// end

func Example() {
	var err error
	if folder, err = os.MkdirTemp("", "files"); err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("0123456789"), 0o600); err != nil {
		log.Fatal(err)
	}
	notes := sabir.NewService("notes")
	// doc: routes
	sabir.Handle(notes, "get", read, sabir.Route("GET", "/notes/{id}"), sabir.Status(200, "ETag"))
	sabir.Handle(notes, "put", change, sabir.Route("PUT", "/notes/{id}"), sabir.Status(200, "ETag"))
	sabir.Handle(notes, "find", find, sabir.Route("GET", "/notes"))
	// end
	// doc: download-route
	sabir.HandleStream(notes, "file", download, sabir.Route("GET", "/files/{name}"))
	// end
	node := sabir.NewNode(sabir.Serve(notes), sabir.HTTP(":0"), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	defer node.Stop(context.Background())

	ask := func(method, path, body string, headers ...string) {
		request, _ := http.NewRequest(method, "http://"+node.HTTPAddr()+path, strings.NewReader(body))
		if body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		if answer.StatusCode >= 300 {
			text = nil
		}
		says := answer.Header.Get("ETag") + answer.Header.Get("Link") + answer.Header.Get("Content-Range")
		fmt.Println(strings.TrimSpace(fmt.Sprint(answer.StatusCode, " ", says, " ", string(text))))
	}
	ask("GET", "/notes/1", "")
	ask("GET", "/notes/1", "", "If-None-Match", `"7"`)
	ask("PUT", "/notes/1", `{"text":"tea"}`, "If-Match", `"7"`)
	ask("PUT", "/notes/1", `{"text":"salt"}`, "If-Match", `"7"`)
	ask("GET", "/notes?word=rope&limit=2", "")
	ask("GET", "/files/a.txt", "", "Range", "bytes=4-")
	// Output:
	// 200 "7" {"id":"1","text":"rope","version":7}
	// 304 "7"
	// 200 "8" {"id":"1","text":"tea","version":8}
	// 412
	// 200 <?cursor=Mg&limit=2&word=rope>; rel="next" {"items":[1,2],"next":"Mg"}
	// 206 bytes 4-9/10 456789
}
