package filter_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/filter"
)

type greeting struct {
	Name string `json:"name" validate:"required"`
}

func greet(_ context.Context, in greeting) (string, error) { return "Hello, " + in.Name, nil }

// get asks for a page on a connection of its own.
func get(url, header, value string) *http.Response {
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set(header, value)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		log.Fatal(err)
	}
	response.Body.Close()
	return response
}

// The first filter is the outermost.
func Example() {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", greet, sabir.Route("GET", "/hello/{name}"))
	node := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":0", web.With(web.Config{Filters: web.Filters{
		filter.Secure{},
		filter.CORS{Origins: []string{"https://app.example.com"}},
		filter.Compress{},
		filter.Cache{MaxAge: time.Minute},
		filter.RateLimit{Rate: 1.0 / 60, Burst: 2},
	}})))
	if err := node.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	defer node.Stop(context.Background())
	base := "http://" + node.HTTPAddr()

	response := get(base+"/hello/Ada", "Origin", "https://app.example.com")
	for _, name := range []string{"Access-Control-Allow-Origin", "Cache-Control", "X-Frame-Options", "RateLimit"} {
		fmt.Println(name+":", response.Header.Get(name))
	}
	fmt.Println(get(base+"/hello/Ada", "If-None-Match", response.Header.Get("ETag")).StatusCode)
	fmt.Println(get(base+"/hello/Ada", "Accept", "*/*").StatusCode)
	// Output:
	// Access-Control-Allow-Origin: https://app.example.com
	// Cache-Control: private, max-age=60
	// X-Frame-Options: DENY
	// RateLimit: "default";r=1;t=60
	// 304
	// 429
}
