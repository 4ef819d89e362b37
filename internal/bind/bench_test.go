package bind_test

import (
	"fmt"
	"testing"

	"github.com/sabir-go/sabir/internal/bind"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/web/exchange"
)

// fiveThousand is half static routes and half with one or two parameters.
func fiveThousand(tb testing.TB) *bind.Router[int] {
	r := new(bind.Router[int])
	for i := range 1250 {
		for j, pattern := range []string{"/service%d/create", "/service%d/list", "/api/users%d/{id}", "/api/users%d/{id}/orders/{order}"} {
			method := "GET"
			if j == 0 {
				method = "POST"
			}
			if err := r.Add(method, fmt.Sprintf(pattern, i), i); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return r
}

func BenchmarkBuild5000Routes(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		fiveThousand(b)
	}
}

func BenchmarkFind(b *testing.B) {
	r := fiveThousand(b)
	room := make([]string, 0, 16)
	for _, c := range []struct{ name, method, path string }{
		{"static", "POST", "/service777/create"},
		{"one parameter", "GET", "/api/users777/12345"},
		{"two parameters", "GET", "/api/users777/12345/orders/67890"},
		{"two parameters, one escaped", "GET", "/api/users777/12%20345/orders/67890"},
		{"nothing", "GET", "/api/users777/12345/orders/67890/x"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Find(c.method, c.path, room)
			}
		})
	}
}

func BenchmarkBind(b *testing.B) {
	path := route.Param{Name: "id", In: route.Path, Field: "id", Kind: route.Integer, Required: true}
	page := route.Param{Name: "page", In: route.Query, Field: "page", Kind: route.Integer}
	sort := route.Param{Name: "sort", In: route.Query, Field: "sort", Kind: route.Text}
	tenant := route.Param{Name: "X-Tenant", In: route.Header, Field: "tenant", Kind: route.Text}
	tags := route.Param{Name: "tag", In: route.Query, Field: "tags", Kind: route.Text, List: true}
	body := []byte(`{"name":"Ada Lovelace","email":"ada@example.org","age":36,"tags":["a","b"]}`)
	for _, c := range []struct {
		name  string
		r     route.Route
		query string
		body  []byte
	}{
		{"path and two of the query", route.Route{Method: "GET", Params: []route.Param{path, page, sort}}, "page=3&sort=name", nil},
		{"escaped text", route.Route{Method: "GET", Params: []route.Param{path, page, sort}}, "page=3&sort=last+name%2Cfirst", nil},
		{"path, query, header and body", route.Route{Method: "PUT", Params: []route.Param{path, page, tenant}, Body: true}, "page=3", body},
		{"a list of three", route.Route{Method: "GET", Params: []route.Param{tags}}, "tag=a&tag=b&tag=c", nil},
		{"body only", route.Route{Method: "POST", Body: true}, "", body},
	} {
		b.Run(c.name, func(b *testing.B) {
			binder := bind.New(c.r)
			x := &exchange.Exchange{Method: c.r.Method, Params: []string{"12345"}, Query: c.query, Body: c.body}
			for _, h := range []string{"Host", "User-Agent", "Accept", "X-Tenant", "Content-Length"} {
				x.Header.Add(h, "north")
			}
			room := make([]byte, 0, 1024)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := binder.Append(room, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
