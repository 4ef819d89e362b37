package web

import (
	"bytes"
	"context"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

// upload is an input that forms may have.
type upload struct {
	ID      int      `json:"id"`
	From    string   `json:"from" form:"From" validate:"required"`
	Amounts []int    `json:"amounts" form:"amount"`
	Picture []byte   `json:"picture" form:"picture"`
	Tags    []string `json:"tags"`
}

func formService() *sabir.Service {
	s := sabir.NewService("hooks")
	sabir.Handle(s, "take", func(_ context.Context, in upload) (upload, error) { return in, nil }, sabir.Route("POST", "/hooks/{id}"), sabir.Route("GET", "/hooks/{id}"))
	sabir.Handle(s, "json", func(_ context.Context, in putItem) (putItem, error) { return in, nil }, sabir.Route("POST", "/json/{id}"))
	return s
}

func TestFormsAreInputsWhereFieldsSaySo(t *testing.T) {
	const urlencoded = "Content-Type: application/x-www-form-urlencoded"
	var parts bytes.Buffer
	form := multipart.NewWriter(&parts)
	form.WriteField("From", "Ada & Co")
	form.WriteField("amount", "1")
	form.WriteField("amount", "2")
	file, _ := form.CreateFormFile("picture", "a.png")
	file.Write([]byte("\x00\xff&="))
	form.Close()
	alone := start(t, sabir.Serve(formService()), sabir.HTTP(":0"))
	startAs(t, "worker", sabir.Join("mem://"+t.Name()), sabir.Serve(formService()))
	forwarding := startAs(t, "gateway", sabir.Join("mem://"+t.Name()), sabir.HTTP(":0", With(Config{Forward: []string{"hooks.**"}})))
	if err := forwarding.WaitFor(t.Context(), "hooks"); err != nil {
		t.Fatal(err)
	}
	for where, node := range map[string]*sabir.Node{"here": alone, "on another node": forwarding} {
		for about, test := range map[string]struct {
			method, path, kind, body string
			status                   int
			want                     string
		}{
			"urlencoded": {"POST", "/hooks/7", urlencoded + "; charset=UTF-8", "From=Ada+%26+Co&amount=1&amount=2&other=x", 200,
				`{"id":7,"from":"Ada & Co","amounts":[1,2],"picture":"","tags":[]}`},
			"multipart with a file": {"POST", "/hooks/7", "Content-Type: " + form.FormDataContentType(), parts.String(), 200,
				`{"id":7,"from":"Ada & Co","amounts":[1,2],"picture":"AP8mPQ==","tags":[]}`},
			"JSON goes on":                      {"POST", "/hooks/7", "", `{"from":"Ada","tags":["x"]}`, 200, `{"id":7,"from":"Ada","amounts":[],"picture":"","tags":["x"]}`},
			"a form of a page, in the query":    {"GET", "/hooks/7?From=Ada&amount=3", "", "", 200, `{"id":7,"from":"Ada","amounts":[3],"picture":"","tags":[]}`},
			"a field of the wrong kind":         {"POST", "/hooks/7", urlencoded, "From=x&amount=many", 400, `"in":"form","name":"amount"`},
			"a required field":                  {"POST", "/hooks/7", urlencoded, "amount=1", 400, `"name":"From"`},
			"a form that is none":               {"POST", "/hooks/7", "Content-Type: multipart/form-data; boundary=x", "--y--", 400, `is no multipart form`},
			"a form without a boundary":         {"POST", "/hooks/7", "Content-Type: multipart/form-data", parts.String(), 400, `is no multipart form`},
			"a form where no field asks for it": {"POST", "/json/7", urlencoded, "name=x", 415, `UnsupportedMediaType`},
			"a call by name":                    {"POST", "/hooks/take", urlencoded, "From=x", 415, `UnsupportedMediaType`},
		} {
			if where == "on another node" && strings.HasPrefix(test.path, "/json") {
				test.status, test.want = 415, "UnsupportedMediaType"
			}
			headers := []string{}
			if test.kind != "" {
				headers = append(headers, test.kind)
			}
			got := ask(t, test.method, "http://"+node.HTTPAddr()+test.path, test.body, headers...)
			if got.status != test.status || !strings.Contains(got.body, test.want) {
				t.Errorf("%s, %s: %d %s", where, about, got.status, got.body)
			}
		}
	}
	got := ask(t, "POST", "http://"+alone.HTTPAddr()+"/hooks/7", "From=x", urlencoded, "Sec-Fetch-Site: cross-site", "Origin: https://evil.example")
	if got.status != 403 || !strings.Contains(got.body, "CrossOrigin") {
		t.Errorf("a form of another site's page: %d %s", got.status, got.body)
	}
}

// The list that such a call's input was in, part of its connection's buffer, was used for other requests: they were answered with
// "the body must be a JSON object", or got each other's inputs.
func TestJSONForARouteOfFormsLeavesOtherRequestsAlone(t *testing.T) {
	s := formService()
	sabir.Handle(s, "plain", func(_ context.Context, in upload) (string, error) { return in.From, nil }, sabir.Route("POST", "/plain"))
	base := "http://" + start(t, sabir.Serve(s), sabir.HTTP(":0")).HTTPAddr()
	for range 100 {
		for _, test := range []struct{ path, body, want string }{
			{"/plain", `{"from":"Ada"}`, `"Ada"`},
			{"/hooks/7", `{"from":"Grace","tags":["x"]}`, `{"id":7,"from":"Grace","amounts":[],"picture":"","tags":["x"]}`},
		} {
			if got := ask(t, "POST", base+test.path, test.body); got.status != 200 || got.body != test.want {
				t.Fatalf("%s: %d %s, want %s", test.path, got.status, got.body, test.want)
			}
		}
	}
}
