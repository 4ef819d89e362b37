package dubbo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/brokers"
)

// watching starts a node with com.shop.OrderService, and what com.shop.TradeService of Java has as a stream of answers.
func watching(t *testing.T) (address string) {
	t.Helper()
	s := sabir.NewService("trades")
	sabir.HandleStream(s, "watch", func(_ context.Context, to *sabir.Stream[string, order]) error {
		article, err := to.Recv()
		if err != nil {
			return err
		}
		if article == "fail at once" {
			return sabir.NewError(sabir.CodeInvalidArgument, "NoArticle", "no such article")
		}
		for i := range int32(3) {
			if err := to.Send(order{ID: article, Amount: i}); err != nil {
				return err
			}
		}
		if article == "fail later" {
			return sabir.NewError(sabir.CodeFailedPrecondition, "NoMore", "no more")
		}
		return nil
	}, sabir.ServerStream())
	address = freeAddress(t)
	start(t, sabir.Serve(orders(nil), s), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + address: {mapping(), dubbo.Interface{Name: "com.shop.TradeService", Service: "trades"}}}}))
	return address
}

// restAnswer is an answer whose values are decoded, without members that are null: Java leaves them out, and here a list is empty then.
type restAnswer struct {
	Status int
	Kind   string
	Values []any
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			if list, is := one.([]any); one == nil || is && len(list) == 0 {
				delete(v, name)
			}
		}
	case []any:
		for _, one := range v {
			withoutNulls(one)
		}
	}
	return v
}

// curl sends a request as curl does: GET, or POST of a body in JSON, unless the body begins with another method.
func curl(t *testing.T, url, body string, headers ...string) (a restAnswer) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	if other, rest, has := strings.Cut(body, " "); has && other == strings.ToUpper(other) && other[0] >= 'A' {
		method, body = other, rest
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if strings.HasPrefix(body, "customer=") {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	a.Status, a.Kind = response.StatusCode, response.Header.Get("Content-Type")
	parts := []string{string(text)}
	if a.Kind == "text/event-stream" {
		parts = strings.Split(strings.TrimSuffix(string(text), "\n\n"), "\n\n")
	}
	for _, part := range parts {
		var v any
		if err := json.Unmarshal([]byte(strings.TrimPrefix(part, "data:")), &v); err != nil {
			t.Errorf("%s: %q: %v", url, part, err)
		}
		a.Values = append(a.Values, withoutNulls(v))
	}
	return a
}

// restRequests are answered by Java as here.
var restRequests = []struct{ path, body, want string }{
	{"OrderService/ping", "", `200 application/json ["pong"]`},
	{"OrderService/later?text=soon", "", `200 application/json ["sooner"]`},
	{"OrderService/list?customer=Ada&numbers=1&numbers=2", "", `200 application/json [[{"amount":1,"id":"Ada","total":0},{"amount":2,"id":"Ada","total":0}]]`},
	{"OrderService/none", "", "404 application/json "},
	{"OrderService/list", `{"customer":"Ada","numbers":[1]}`, `200 application/json [[{"amount":1,"id":"Ada","total":0}]]`},
	{"OrderService/list?numbers=1", `{"customer":"Ada"}`, `200 application/json [[{"amount":1,"id":"Ada","total":0}]]`},
	{"OrderService/list", `PUT ["Ada", [1]]`, `200 application/json [[{"amount":1,"id":"Ada","total":0}]]`},
	{"OrderService/list?customer=Ada&numbers=1", "POST ", `200 application/json [[{"amount":1,"id":"Ada","total":0}]]`},
	{"OrderService/list?customer=Ada&numbers=1", "DELETE ", `200 application/json [[{"amount":1,"id":"Ada","total":0}]]`},
	{"OrderService/list?customer=Ada&numbers=1", "PATCH ", `200 application/json [[{"amount":1,"id":"Ada","total":0}]]`},
	{"OrderService/list", "customer=Ada&numbers=1&numbers=2", `200 application/json [[{"amount":1,"id":"Ada","total":0},{"amount":2,"id":"Ada","total":0}]]`},
	{"TradeService/watch?article=a", "", `200 text/event-stream [{"amount":0,"id":"a","total":0},{"amount":1,"id":"a","total":0},{"amount":2,"id":"a","total":0}]`},
	{"TradeService/watch", `["a"]`, `200 text/event-stream [{"amount":0,"id":"a","total":0},{"amount":1,"id":"a","total":0},{"amount":2,"id":"a","total":0}]`},
	{"TradeService/watch?article=fail+later", "", `200 text/event-stream [{"amount":0,"id":"fail later","total":0},{"amount":1,"id":"fail later","total":0},{"amount":2,"id":"fail later","total":0},{"message":"no more","status":"500"}]`},
	{"TradeService/watch?article=fail+at+once", "", `500 text/event-stream [{"message":"no such article","status":"500"}]`},
}

func TestGetAndEventsAreAnsweredOverHTTP(t *testing.T) {
	base := "http://" + watching(t) + "/com.shop."
	for _, c := range restRequests {
		got := curl(t, base+c.path, c.body)
		text, _ := json.Marshal(got.Values)
		if all := fmt.Sprintf("%d %s %s", got.Status, got.Kind, text); !strings.HasPrefix(all, c.want) {
			t.Errorf("%s: %s, want %s", c.path, all, c.want)
		}
	}
	for _, c := range []struct {
		path   string
		status int
		header []string
	}{
		{"OrderService/add?a=2&b=40", 200, nil},
		{"OrderService/add?a=x", 400, nil},
		{"OrderService/later?a=1&b=2", 400, nil},
		{"OrderService/ping", 403, []string{"Sec-Fetch-Site", "cross-site"}},
		{"OrderService/ping", 403, []string{"Origin", "https://elsewhere.example"}},
		{"OrderService/ping", 200, []string{"Sec-Fetch-Site", "none"}},
		{"OrderService/find?ID=b&version=7", 200, nil},
		{"OrderService/find?id=b&VERSION=x", 400, nil},
	} {
		if got := curl(t, base+c.path, "", c.header...); got.Status != c.status {
			t.Errorf("%s %q: %+v, want %d", c.path, c.header, got, c.status)
		}
	}
}

func TestPagesOfOtherSitesMustAskBeforeTheyPost(t *testing.T) {
	url := "http://" + watching(t) + "/com.shop.OrderService/list?customer=Ada&numbers=1"
	for _, c := range []struct {
		body, kind string
		status     int
	}{
		{"POST ", "", 403},
		{"customer=Ada&numbers=1", "application/x-www-form-urlencoded", 403},
		{`["Ada", [1]]`, "", 403},
		{`["Ada", [1]]`, "text/plain", 403},
		{`["Ada", [1]]`, "application/json", 200}, // of which a browser has asked, and was not answered
		{"PUT ", "", 200},
	} {
		if got := curl(t, url, c.body, "Origin", "https://elsewhere.example", "Content-Type", c.kind); got.Status != c.status {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestGetAndEventsAreAnsweredAsJavaDoes(t *testing.T) {
	brokers.Long(t)
	own := watching(t)
	_, port, _ := net.SplitHostPort(freeAddress(t))
	run(t, "Provider", port, "tri").until("ready")
	for _, c := range restRequests {
		here, java := curl(t, "http://"+own+"/com.shop."+c.path, c.body), curl(t, "http://127.0.0.1:"+port+"/com.shop."+c.path, c.body)
		if here.Status == http.StatusNotFound {
			here.Values, java.Values = nil, nil // whose texts differ
		}
		if !reflect.DeepEqual(here, java) {
			t.Errorf("%s: here %+v, Java %+v", c.path, here, java)
		}
	}
	// A method of Java's interface has a path there, which is not in what consumers send, and not here.
	path := "/com.shop.OrderService/orders/b/7"
	if java := curl(t, "http://127.0.0.1:"+port+path, ""); fmt.Sprint(java) != "{200 application/json [map[amount:7 id:b tags:[t] total:0.5]]}" {
		t.Errorf("the path of Java's interface: %v", java)
	}
	if here := curl(t, "http://"+own+path, ""); here.Status != http.StatusNotFound {
		t.Errorf("the path of Java's interface here: %v", here)
	}
}
