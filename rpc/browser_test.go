package rpc_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/filter"
)

func TestPagesOfOtherSitesMayCallByTheCORSFilterAlone(t *testing.T) {
	with, _ := serve(t, []sabir.Servable{calc()}, web.With(web.Config{Filters: web.Filters{filter.CORS{Origins: []string{"https://app.example.com"}}}}))
	without, _ := serve(t, []sabir.Servable{calc()})
	ask := func(url, method string) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, url+"/test.v1.Calc/Add", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Origin", "https://app.example.com")
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Access-Control-Request-Method", "POST")
		request.Header.Set("Access-Control-Request-Headers", "connect-protocol-version,connect-timeout-ms,content-type,grpc-timeout,x-grpc-web,x-user-agent")
		response, err := client(t, true).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response
	}
	if got := ask(with, "OPTIONS"); got.StatusCode != 204 || got.Header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("the preflight: %s %v", got.Status, got.Header)
	}
	if got := ask(with, "POST"); got.StatusCode != 200 || !strings.Contains(got.Header.Get("Access-Control-Expose-Headers"), "Grpc-Status-Details-Bin") {
		t.Errorf("the call: %s %v", got.Status, got.Header)
	}
	if got := ask(without, "POST"); got.StatusCode != 403 {
		t.Errorf("without the filter: %s", got.Status)
	}
}
