package httpstream_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpstream"
)

// A stream behind any web server. Programs leave this to package web, which also finds the action and checks the caller.
func Example() {
	clock := sabir.NewService("clock")
	sabir.HandleStream(clock, "count", func(_ context.Context, s *sabir.Stream[int, string]) error {
		to, err := s.Recv()
		for i := 1; err == nil && i <= to; i++ {
			err = s.Send(fmt.Sprint("number ", i))
		}
		return err
	})
	node := sabir.NewNode(sabir.Serve(clock), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(context.Background()); err != nil {
		panic(err)
	}
	defer node.Stop(context.Background())

	streams := httpstream.New(node, httpstream.Limits{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		streams.Serve(w, r, httpstream.Call{Action: node.Action("clock.count"), Context: r.Context(), Problem: problem})
	}))
	defer server.Close()
	defer streams.Stop(context.Background())

	request, _ := http.NewRequest("POST", server.URL, strings.NewReader("2"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	answer, err := server.Client().Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if lines.Text() != "" {
			fmt.Println(lines.Text())
		}
	}
	// Output:
	// id: 1
	// data: "number 1"
	// id: 2
	// data: "number 2"
	// event: end
	// data: {}
}
