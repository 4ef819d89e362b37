package dubbo_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
)

// operated is a node that takes commands, and the address for them.
func operated(t *testing.T) string {
	t.Helper()
	address := freeAddress(t)
	start(t, sabir.Serve(orders(nil)), dubbo.Bridge(dubbo.Config{QoS: address, Serve: map[string][]dubbo.Interface{"dubbo://127.0.0.1:0": {mapping(), dubbo.Interface{Name: "com.shop.Other", Service: "orders", Group: "eu"}}},
		References: map[string][]dubbo.Interface{"tri://" + freeAddress(t): {tradesOfJava()}}}))
	return address
}

// shown is the answer to ls.
func shown(orders, other string) string {
	return `As Provider side:
+---------------------------+---+
|   Provider Service Name   |PUB|
+---------------------------+---+
|com.shop.OrderService:1.0.0| ` + orders + ` |
+---------------------------+---+
|     eu/com.shop.Other     | ` + other + ` |
+---------------------------+---+
As Consumer side:
+---------------------+---+
|Consumer Service Name|NUM|
+---------------------+---+
|com.shop.TradeService| 0 |
+---------------------+---+
`
}

const commandList = "+-------+--------------------+\n| help  |    help command    |\n+-------+--------------------+\n|  ls   |     ls service     |\n+-------+--------------------+\n" +
	"|offline|   offline dubbo    |\n+-------+--------------------+\n|online |online app addresses|\n+-------+--------------------+\n| quit  |quit telnet console |\n+-------+--------------------+\n"

func TestCommandsOfOperatorsComeByTelnet(t *testing.T) {
	p := dial(t, operated(t))
	p.says("dubbo>") // to one who waits
	for _, c := range []struct{ command, want string }{
		{"ls", shown("Y", "Y") + "\r\ndubbo>"},
		{"offline com.shop.OrderService:1.0.0", "OK\r\ndubbo>"},
		{"ls\r", shown("N", "Y") + "\r\ndubbo>"},
		{"offline", "OK\r\ndubbo>"},
		{"ls", shown("N", "N") + "\r\ndubbo>"},
		{"online .*Order.*", "OK\r\ndubbo>"},
		{"ls", shown("Y", "N") + "\r\ndubbo>"},
		{"online com.shop.None", "service not found\r\ndubbo>"},
		{"online (", "the pattern cannot be read: error parsing regexp: missing closing ): `^(?:()$`\r\ndubbo>"},
		{"help", commandList + "\r\ndubbo>"},
		{"help ls", "+------------+--+\n|COMMAND NAME|ls|\n+------------+--+\n|  EXAMPLE   |ls|\n+------------+--+\n\r\ndubbo>"},
		{"help none", "no such command:none\r\ndubbo>"},
		{"none", "none :no such command\r\ndubbo>"},
		{"", "dubbo>"},
		{"quit", "BYE!\n"},
	} {
		p.write([]byte(c.command + "\n"))
		p.says(c.want)
	}
	p.ended()
}

// says reads so much and compares it.
func (p *peer) says(want string) {
	p.t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(p.reader, got); err != nil || string(got) != want {
		p.t.Fatalf("got %q, %v, want %q", got[:n], err, want)
	}
}

func TestCommandsOfOperatorsComeByHTTP(t *testing.T) {
	address := operated(t)
	for _, c := range []struct {
		method, path, body, header string
		status                     int
		want                       string
	}{
		{"GET", "/ls", "", "", 200, shown("Y", "Y")},
		{"GET", "/offline?service=com.shop.OrderService", "", "", 200, "OK"},
		{"GET", "/ls", "", "", 200, shown("N", "Y")},
		{"GET", "/online/.*", "", "", 200, "OK"},
		{"POST", "/offline", "service=eu/com.shop.Other", "", 200, "OK"},
		{"GET", "/ls", "", "", 200, shown("Y", "N")},
		{"GET", "/help", "", "", 200, commandList},
		{"GET", "/quit", "", "", 200, "BYE!"},
		{"GET", "/none", "", "", 404, "no such command\n"},
		{"PUT", "/ls", "", "", 405, "want GET or POST\n"},
		{"GET", "/offline", "", "Origin: http://evil.example", 403, ""},
		{"GET", "/offline", "", "Sec-Fetch-Site: cross-site", 403, ""},
		{"GET", "/offline", "", "Host: evil.example", 403, ""},
		{"POST", "/offline", "service=" + strings.Repeat("x", 1<<20), "", 400, ""},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+address+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.body != "" {
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			request.Header.Set(name, value)
			request.Host = map[bool]string{true: value, false: address}[name == "Host"]
		}
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
		if err != nil {
			t.Fatalf("%+.100v: %v", c, err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != c.status || c.want != "" && string(text) != c.want {
			t.Errorf("%.100s %.100s: got %d %q, %v", c.path, c.body, response.StatusCode, text, err)
		}
	}
}

func TestWhatIsNoCommandEndsTheConnectionOfAnOperator(t *testing.T) {
	address := operated(t)
	for name, data := range map[string]string{
		"a line that does not end": strings.Repeat("x", 1<<16),
		"an interruption":          "\xff\xf4\xff\xfd\x06\r\n",
		"a head that does not end": "GET /ls HTTP/1.1\r\nX: " + strings.Repeat("x", 1<<17),
		"a frame of dubbo":         "\xda\xbb\xc2\x00" + strings.Repeat("\x00", 4096),
	} {
		p := dial(t, address)
		p.Write([]byte(data)) // fails where the node has closed already
		if _, err := io.Copy(io.Discard, p.reader); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: the connection does not end: %v", name, err)
		}
	}
}

func TestCommandsOfOperatorsAreForThisMachineOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0"} {
		node := sabir.NewNode(dubbo.Bridge(dubbo.Config{QoS: address}))
		if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "set Open") {
			t.Errorf("%s: %v", address, err)
		}
	}
	start(t, dubbo.Bridge(dubbo.Config{Open: true, QoS: "0.0.0.0:0"}))
	if err := sabir.NewNode(dubbo.Bridge(dubbo.Config{QoS: "nowhere"})).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "want an address") {
		t.Errorf("an address that is none: %v", err)
	}
}
