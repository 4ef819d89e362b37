package sabirtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

// GoldenHTTP sends the requests of a file to the node, which needs a [sabir.HTTP] address, and compares the answers with those in the file. A
// file is plain text, a part for each request:
//
//	### An order is created
//	POST /orders
//	Content-Type: application/json
//
//	{"item": "lamp"}
//
//	HTTP 201
//	Content-Type: application/json
//	Location: <any>
//
//	{"id": "<any>", "item": "lamp"}
//
// The requests are sent one after the other; redirects are not followed and no cookies are kept. Of an answer the status counts, the headers that the
// file has, and the body: JSON as a value, whatever its form, anything else as text. "<any>" stands for any header, JSON value or
// whole body. With SABIRTEST_UPDATE=1 the answers in the file are written again: what is "<any>" stays, and an answer that the file does not
// have yet gets its Content-Type and Location, and "<any>" for the request's id and the node where it is an error.
func GoldenHTTP(t testing.TB, node *sabir.Node, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	exchanges, err := readExchanges(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if node.HTTPAddr() == "" {
		t.Fatalf("node %s has no address for HTTP: give it sabir.HTTP(\"127.0.0.1:0\")", node.ID())
	}
	client := &http.Client{Timeout: waitTimeout, Transport: &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	for i, e := range exchanges {
		got, err := e.send(client, "http://"+node.HTTPAddr())
		if err != nil {
			t.Fatalf("%s: %s: %v", file, e.title, err)
		}
		if update() {
			exchanges[i].want = got.shown(e.want)
			if strings.Contains("\n"+exchanges[i].want.body, "\n"+title) {
				t.Fatalf("%s: %s: a line of the answer begins with %s, as a title does: write %s in place of its body", file, e.title, title, anything)
			}
			continue
		}
		for _, difference := range got.differences(e.want) {
			t.Errorf("%s: %s: %s", file, e.title, difference)
		}
	}
	if update() {
		if err := write(file, []byte(formatExchanges(exchanges))); err != nil {
			t.Fatal(err)
		}
	}
}

const anything = "<any>"

func (e exchange) send(client *http.Client, address string) (answer, error) {
	r, err := http.NewRequest(e.method, address+e.path, strings.NewReader(e.body))
	if err != nil {
		return answer{}, err
	}
	for _, f := range e.header {
		r.Header.Add(f.name, f.value)
	}
	response, err := client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	got := answer{status: response.StatusCode, body: string(body)}
	for name, values := range response.Header {
		got.header = append(got.header, field{name, strings.Join(values, ", ")})
	}
	return got, nil
}

// differences lists in what the answer that came differs from the one that the file has.
func (a answer) differences(want answer) (list []string) {
	if want.status == 0 {
		return []string{"the file has no answer yet; SABIRTEST_UPDATE=1 writes it"}
	}
	if a.status != want.status {
		list = append(list, fmt.Sprintf("status %d, want %d: %s", a.status, want.status, a.body))
	}
	for _, f := range want.header {
		switch got, there := a.field(f.name); {
		case !there:
			list = append(list, "no header "+f.name)
		case f.value != anything && got != f.value:
			list = append(list, fmt.Sprintf("%s: %s, want %s", f.name, got, f.value))
		}
	}
	if !sameBody(a.body, want.body) {
		list = append(list, fmt.Sprintf("body %s\nwant %s", indented(a.body), indented(want.body)))
	}
	return list
}

func (a answer) field(name string) (value string, there bool) {
	i := slices.IndexFunc(a.header, func(f field) bool { return strings.EqualFold(f.name, name) })
	if i < 0 {
		return "", false
	}
	return a.header[i].value, true
}

// shown is the answer as the file is to have it, given the one that it has.
func (a answer) shown(before answer) answer {
	shown := answer{status: a.status, body: a.body}
	names := []string{"Content-Type", "Location"}
	if before.status != 0 {
		names = nil
		for _, f := range before.header {
			names = append(names, f.name)
		}
	}
	for _, name := range names {
		value, there := a.field(name)
		if !there {
			continue
		}
		if was, _ := before.field(name); was == anything {
			value = anything
		}
		shown.header = append(shown.header, field{name, value})
	}
	was := before.body
	if kind, _ := a.field("Content-Type"); before.status == 0 && strings.HasPrefix(kind, "application/problem+json") {
		was = `{"requestId": "<any>", "node": "<any>"}` // of each run its own
	}
	got, isJSON := parsed(a.body)
	kept, wasJSON := parsed(was)
	switch {
	case strings.TrimSpace(was) == anything:
		shown.body = anything
	case isJSON && wasJSON && strings.Contains(was, anything):
		shown.body = string(encoded(keepAny(got, kept)))
	}
	shown.body = indented(shown.body)
	return shown
}

// encoded is a value that was read from JSON, as JSON again.
func encoded(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // for "<any>"
	if err := e.Encode(value); err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return b.Bytes()
}

// keepAny is a value that came, with "<any>" where the one of the file has it.
func keepAny(got, was any) any {
	if was == anything {
		return anything
	}
	switch g := got.(type) {
	case map[string]any:
		if w, same := was.(map[string]any); same {
			for name, value := range w {
				if v, there := g[name]; there {
					g[name] = keepAny(v, value)
				}
			}
		}
	case []any:
		if w, same := was.([]any); same {
			for i := range min(len(g), len(w)) {
				g[i] = keepAny(g[i], w[i])
			}
		}
	}
	return got
}

func sameBody(got, want string) bool {
	if strings.TrimSpace(want) == anything {
		return true
	}
	g, isJSON := parsed(got)
	w, wantsJSON := parsed(want)
	if isJSON && wantsJSON {
		return sameJSON(g, w)
	}
	return strings.TrimSpace(got) == strings.TrimSpace(want)
}

// sameJSON compares two JSON values; "<any>" in want stands for any.
func sameJSON(got, want any) bool {
	if want == anything {
		return true
	}
	switch w := want.(type) {
	case map[string]any:
		g, same := got.(map[string]any)
		if !same || len(g) != len(w) {
			return false
		}
		for name, value := range w {
			if v, there := g[name]; !there || !sameJSON(v, value) {
				return false
			}
		}
		return true
	case []any:
		g, same := got.([]any)
		return same && slices.EqualFunc(g, w, sameJSON)
	}
	return reflect.DeepEqual(got, want)
}

// parsed is the body as a JSON value. Numbers keep their digits.
func parsed(body string) (value any, isJSON bool) {
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, false
	}
	_, err := d.Token()
	return value, err == io.EOF
}

func indented(body string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(strings.TrimSpace(body)), "", "  ") != nil {
		return strings.TrimRight(body, "\r\n")
	}
	return b.String()
}
