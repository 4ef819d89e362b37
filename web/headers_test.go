package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

type whoReply struct {
	Request  string            `json:"request"`
	Metadata map[string]string `json:"metadata"`
	Left     float64           `json:"left"`
}

// who asks the node what it knows of the request.
func who(t *testing.T, base string, headers ...string) (reply whoReply, got answer) {
	t.Helper()
	got = post(t, base+"/shop/who", `{}`, headers...)
	if got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if err := json.Unmarshal([]byte(got.body), &reply); err != nil {
		t.Fatal(err)
	}
	return reply, got
}

func TestTheRequestIDOfTheCallerIsKeptAndSentBack(t *testing.T) {
	_, base := startShop(t)
	reply, got := who(t, base, "X-Request-Id: order-7/try-2")
	if reply.Request != "order-7/try-2" || got.header.Get("X-Request-Id") != "order-7/try-2" {
		t.Errorf("the handler has %q, the answer %q", reply.Request, got.header.Get("X-Request-Id"))
	}
}

func TestARequestWithoutAnIDOrWithAnUnfitOneGetsAFreshOne(t *testing.T) {
	_, base := startShop(t)
	for _, headers := range [][]string{nil, {"X-Request-Id: two words"}, {"X-Request-Id: ümlaut"}, {"X-Request-Id: " + strings.Repeat("a", 129)}, {"X-Request-Id: a", "X-Request-Id: b"}} {
		reply, got := who(t, base, headers...)
		if len(reply.Request) != 36 || got.header.Get("X-Request-Id") != reply.Request {
			t.Errorf("%v: the handler has %q, the answer %q", headers, reply.Request, got.header.Get("X-Request-Id"))
		}
	}
}

func TestACallHasTheTimeItsCallerGivesButNeverMoreThanTheLimit(t *testing.T) {
	_, base := startShop(t)
	for header, limit := range map[string]float64{"": 30, "20500ms": 20.5, "12.5": 12.5, "1m": 30, "3600": 30, "1h30m": 30, "999999.999999999h": 30} {
		var headers []string
		if header != "" {
			headers = []string{"X-Request-Timeout: " + header}
		}
		began := time.Now()
		reply, _ := who(t, base, headers...)
		if took := time.Since(began).Seconds(); reply.Left > limit || reply.Left < limit-took {
			t.Errorf("%q leaves %v s of a call that took %v s, want just under %v", header, reply.Left, took, limit)
		}
	}
}

// The OpenAPI document says which texts are times: this is the shortest.
func TestATimeOfANanosecondIsOver(t *testing.T) {
	_, base := startShop(t)
	for header, status := range map[string]int{"0.001us": http.StatusGatewayTimeout, "0.0001us": http.StatusBadRequest, "0": http.StatusBadRequest, "0.0s": http.StatusBadRequest} {
		if got := post(t, base+"/shop/who", `{}`, "X-Request-Timeout: "+header); got.status != status {
			t.Errorf("%q: got %d, want %d", header, got.status, status)
		}
	}
}

// A proxy and the node could each take another of two values.
func TestAHeaderWithOneValueIsRefusedWhereItComesTwice(t *testing.T) {
	shopNode, _ := startShop(t)
	streams, _ := startStreams(t)
	for _, header := range []string{"Authorization: Bearer a", "content-TYPE: application/json", "Content-Encoding: identity", "X-Request-Timeout: 1s",
		"Grpc-Timeout: 1S", "Connect-Timeout-Ms: 1000", "Range: bytes=0-1"} {
		for node, path := range map[*sabir.Node]string{shopNode: "/shop/hello", streams: "/sums/total"} {
			body := map[string]string{"/shop/hello": `{"name":"Ada"}`, "/sums/total": "1"}[path]
			for lines, want := range map[int]int{1: 200, 2: 400} {
				kind := "Content-Type: application/json\r\n"
				if strings.HasPrefix(header, "content") {
					kind = ""
				}
				r, text := exchangeRaw(t, node, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\n%s%sContent-Length: %d\r\n\r\n%s", path, kind, strings.Repeat(header+"\r\n", lines), len(body), body))
				if r.StatusCode != want {
					t.Errorf("%d of %s to %s: %d %s", lines, header, path, r.StatusCode, text)
				}
			}
		}
	}
}

func TestMetaAndTraceHeadersAreMetadataOfTheCall(t *testing.T) {
	_, base := startShop(t)
	trace := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	reply, _ := who(t, base, "X-Meta-Tenant: acme", "x-meta-user%49d: 7", "Traceparent: "+trace, "X-Meta-Two: a", "X-Meta-Two: b", "X-Other: no")
	want := map[string]string{"tenant": "acme", "userId": "7", "traceparent": trace, "two": "a, b"}
	if len(reply.Metadata) != len(want) {
		t.Errorf("the metadata is %v, want %v", reply.Metadata, want)
	}
	for key, value := range want {
		if reply.Metadata[key] != value {
			t.Errorf("%s is %q, want %q", key, reply.Metadata[key], value)
		}
	}
}

func TestMetadataIsBounded(t *testing.T) {
	_, base := startShop(t)
	var many []string
	for i := range maxMetadata + 1 {
		many = append(many, "X-Meta-K"+itoa(i)+": v")
	}
	for about, headers := range map[string][]string{"too many": many, "too large": {"X-Meta-Big: " + strings.Repeat("x", maxMetaBytes)}, "broken": {"X-Meta-%zz: 1"}} {
		if p := post(t, base+"/shop/who", `{}`, headers...).problem(t); p.Status != 400 || p.Name != "BadInput" {
			t.Errorf("%s: %+v", about, p)
		}
	}
}

func TestMetadataComesThroughHeadersAsItWas(t *testing.T) {
	given := map[string]string{"tenant": "acme", "userID": "7", "a b%c": "100%", "größe": "groß", "traceparent": "00-1", "x.y_z": ""}
	h := http.Header{}
	if err := setMetadata(h, given); err != nil {
		t.Fatal(err)
	}
	var x exchange.Exchange
	for name, values := range h {
		x.Header.Add(name, values[0])
	}
	got, err := metadata(&x)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(given) {
		t.Errorf("got %v, want %v", got, given)
	}
	for key, value := range given {
		if got[key] != value {
			t.Errorf("%q is %q, want %q", key, got[key], value)
		}
	}
}

// Anybody could say that the own call goes before all others.
func TestACallerOverHTTPCannotMakeItsCallCritical(t *testing.T) {
	_, base := startShop(t)
	for said, want := range map[string]string{"critical": "", "sheddable": "sheddable", "Critical": "", "": ""} {
		if reply, _ := who(t, base, "X-Meta-Sabir-Priority: "+said); reply.Metadata["sabir-priority"] != want {
			t.Errorf("of %q the handler sees %q", said, reply.Metadata["sabir-priority"])
		}
	}
}
