package web_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/sabir-go/sabir"
)

type Purchase struct {
	ID    string `json:"id"`
	Known bool   `json:"known"`
}

// doc: statuses
var Place = sabir.NewAction[Purchase, Purchase]("orders.place",
	sabir.Route("PUT", "/orders/{id}"),
	sabir.Status(201, "Location"), // the usual one, and a header that comes with it
	sabir.Status(200))

func place(ctx context.Context, in Purchase) (Purchase, error) {
	if in.Known {
		return in, sabir.Answer(ctx).SetStatus(200)
	}
	return in, sabir.Answer(ctx).SetHeader("Location", "/orders/"+in.ID)
}

// end

// doc: form
type Message struct {
	From    string `json:"from" form:"From" validate:"required"`
	Picture []byte `json:"picture" form:"picture"` // a file of the form
}

// end

// An action declares how it answers over HTTP, and takes forms where its input says so.
func Example_statusesAndForms() {
	orders := sabir.NewService("orders")
	Place.Handle(orders, place)
	sabir.Handle(orders, "message", func(_ context.Context, in Message) (string, error) { return "thanks, " + in.From, nil },
		sabir.Route("POST", "/messages"))
	node := sabir.NewNode(sabir.Serve(orders), sabir.HTTP(":0"), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(context.Background()); err != nil {
		log.Fatal(err)
	}
	defer node.Stop(context.Background())

	for _, body := range []string{`{}`, `{"known":true}`} {
		request, _ := http.NewRequest("PUT", "http://"+node.HTTPAddr()+"/orders/7", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		answer.Body.Close()
		fmt.Printf("%d %q\n", answer.StatusCode, answer.Header.Get("Location"))
	}
	answer, err := http.PostForm("http://"+node.HTTPAddr()+"/messages", url.Values{"From": {"Ada"}})
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status)
	// Output:
	// 201 "/orders/7"
	// 200 ""
	// 200 OK
}
