package http1_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir/internal/http1"
	"github.com/sabir-go/sabir/web/exchange"
)

// upper answers POST /upper with its body in capitals.
type upper struct{}

func (upper) Take(x *exchange.Exchange) bool { return x.Method == "POST" && x.Path == "/upper" }

func (upper) Serve(x *exchange.Exchange) {
	x.Type = "text/plain"
	x.Out = append(x.Out, strings.ToUpper(string(x.Body))...)
}

func (upper) Failed(x *exchange.Exchange) { x.Status, x.Out = http.StatusInternalServerError, nil }

func (upper) Late(x *exchange.Exchange) { x.Status = http.StatusGatewayTimeout }

func (upper) Full(x *exchange.Exchange) { x.Status = http.StatusServiceUnavailable }
func (upper) Busy(x *exchange.Exchange) { x.Status = http.StatusServiceUnavailable }

func Example() {
	rest := http.NewServeMux()
	rest.HandleFunc("GET /about", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "by net/http") })
	server := http1.NewServer(http1.Config{Handler: upper{}, Fallback: &http.Server{Handler: rest}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go server.Serve(l)
	defer server.Close()

	show := func(response *http.Response, err error) {
		if err != nil {
			fmt.Println(err)
			return
		}
		defer response.Body.Close()
		b, _ := io.ReadAll(response.Body)
		fmt.Printf("%d %s\n", response.StatusCode, b)
	}
	url := "http://" + l.Addr().String()
	show(http.Post(url+"/upper", "text/plain", strings.NewReader("hello")))
	show(http.Get(url + "/about"))
	http.DefaultClient.CloseIdleConnections()
	// Output:
	// 200 HELLO
	// 200 by net/http
}
