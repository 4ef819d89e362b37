package filter_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

var document = `[` + strings.Repeat(`{"id":1,"name":"Ada Lovelace","email":"ada@example.com"},`, 60) + `{}]`

// plain is the answer's body as a client reads it.
func plain(t testing.TB, x *exchange.Exchange) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(x.Out)
	switch encoding := x.Answer.Get("Content-Encoding"); encoding {
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = z
	case "zstd":
		z, err := zstd.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	case "":
	default:
		t.Fatalf("the encoding is %q", encoding)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestTheCallerChoosesTheEncoding(t *testing.T) {
	f := filter.Compress{}.Filter()
	for accept, want := range map[string]string{
		"":                          "",
		"gzip":                      "gzip",
		"zstd":                      "zstd",
		"gzip, deflate, br, zstd":   "zstd",
		"GZIP":                      "gzip",
		"x-gzip":                    "gzip",
		"*":                         "zstd",
		"*;q=0":                     "",
		"br":                        "",
		"deflate":                   "",
		"identity":                  "",
		"gzip;q=0":                  "",
		"gzip;q=0.001":              "gzip",
		"gzip;q=0.000":              "",
		"gzip;q=1.000":              "gzip",
		"gzip;q=1.001":              "",
		"gzip;q=2":                  "",
		"gzip;q=-1":                 "",
		"gzip;q=0.1234":             "",
		"gzip;q=":                   "",
		"gzip;q=x":                  "",
		"gzip;Q=0.5":                "gzip",
		"gzip ; q=0.5":              "gzip",
		"gzip;level=9":              "",
		"gzip;q=1, zstd;q=0.5":      "gzip",
		"gzip;q=0.5, zstd;q=0.5":    "zstd",
		"zstd;q=0, *":               "gzip",
		"*;q=0.5, gzip":             "gzip",
		"identity;q=0, gzip;q=0.1":  "gzip",
		"identity, gzip;q=0.5":      "",
		"identity;q=0.5, gzip":      "gzip",
		"identity;q=0.5, gzip;q=.5": "",
		",,gzip,":                   "gzip",
		"gzipped":                   "",
		"not gzip":                  "",
	} {
		x := request("Accept-Encoding", accept)
		through(f, answered(x, document))
		if got := x.Answer.Get("Content-Encoding"); got != want {
			t.Errorf("%q: got %q, want %q", accept, got, want)
		}
		if plain(t, x) != document || x.Answer.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: the document is lost, or the answer does not vary", accept)
		}
		if want != "" && len(x.Out) > len(document)/5 {
			t.Errorf("%q: %d of %d bytes", accept, len(x.Out), len(document))
		}
	}
	x := request()
	if through(f, answered(x, document)); string(x.Out) != document || x.Answer.Get("Vary") != "Accept-Encoding" {
		t.Error("without the header something is done")
	}
}

func TestWhatIsNotCompressed(t *testing.T) {
	noise := fmt.Sprintf("%x", document)
	for what, change := range map[string]func(*exchange.Exchange){
		"small":                func(x *exchange.Exchange) { x.Out = x.Out[:1023] },
		"empty":                func(x *exchange.Exchange) { x.Out = nil },
		"an image":             func(x *exchange.Exchange) { x.Type = "image/png" },
		"bytes":                func(x *exchange.Exchange) { x.Type = "application/octet-stream" },
		"a zip":                func(x *exchange.Exchange) { x.Type = "application/zip" },
		"events":               func(x *exchange.Exchange) { x.Type = "text/event-stream; charset=utf-8" },
		"no type":              func(x *exchange.Exchange) { x.Type = "" },
		"encoded already":      func(x *exchange.Exchange) { x.Answer.Set("Content-Encoding", "br") },
		"partial":              func(x *exchange.Exchange) { x.Status = 206 },
		"no content":           func(x *exchange.Exchange) { x.Status = 204 },
		"no-transform":         func(x *exchange.Exchange) { x.Answer.Add("Cache-Control", "max-age=60, No-Transform") },
		"a switch of protocol": func(x *exchange.Exchange) { x.Status = 101 },
	} {
		x := answered(request("Accept-Encoding", "gzip, zstd"), noise)
		change(x)
		before, encoding := string(x.Out), x.Answer.Get("Content-Encoding")
		through(filter.Compress{}.Filter(), x)
		if string(x.Out) != before || x.Answer.Get("Content-Encoding") != encoding || x.Answer.Has("Vary") {
			t.Errorf("%s is compressed", what)
		}
	}
}

func TestWhatGrowsIsLeftAlone(t *testing.T) {
	random := make([]byte, 2000)
	for i, n := 0, uint32(1); i < len(random); i++ {
		n = n*1664525 + 1013904223
		random[i] = byte(n >> 24)
	}
	for _, encoding := range []string{"gzip", "zstd"} {
		x := answered(request("Accept-Encoding", encoding), string(random))
		through(filter.Compress{}.Filter(), x)
		if x.Answer.Has("Content-Encoding") || string(x.Out) != string(random) {
			t.Errorf("%s: got %d bytes", encoding, len(x.Out))
		}
	}
}

func TestTypesThatShrink(t *testing.T) {
	for _, mediaType := range []string{"application/json", "application/problem+json", "application/vnd.api+json; charset=utf-8", "text/html", "image/svg+xml", "application/javascript", "application/x-own"} {
		x := answered(request("Accept-Encoding", "gzip"), document)
		x.Type = mediaType
		if through(filter.Compress{Types: []string{"application/x-own"}}.Filter(), x); !x.Answer.Has("Content-Encoding") {
			t.Errorf("%s is not compressed", mediaType)
		}
	}
}

func TestAStrongETagBecomesWeak(t *testing.T) {
	for tag, want := range map[string]string{`"a"`: `W/"a"`, `W/"a"`: `W/"a"`, "": ""} {
		for _, status := range []int{0, 304} {
			x := answered(request("Accept-Encoding", "gzip"), document)
			if x.Status = status; tag != "" {
				x.Answer.Add("ETag", tag)
			}
			through(filter.Compress{}.Filter(), x)
			if got := x.Answer.Get("ETag"); got != want {
				t.Errorf("%d, %s: got %s", status, tag, got)
			}
		}
	}
	x := answered(request("Accept-Encoding", "br"), document)
	x.Answer.Add("ETag", `"a"`)
	if through(filter.Compress{}.Filter(), x); x.Answer.Get("ETag") != `"a"` {
		t.Error("weak, but the bytes are the same")
	}
}

func TestTheAnswerMayHaveHadAVary(t *testing.T) {
	for vary, want := range map[string]string{"Origin": "Vary: Origin\nVary: Accept-Encoding", "*": "Vary: *", "origin, accept-encoding": "Vary: origin, accept-encoding"} {
		x := answered(request("Accept-Encoding", "gzip"), document)
		x.Answer.Add("Vary", vary)
		if through(filter.Compress{}.Filter(), x); headers(x, "Vary") != want {
			t.Errorf("got %s, want %s", headers(x, "Vary"), want)
		}
	}
}

func TestCompressOptions(t *testing.T) {
	x := answered(request("Accept-Encoding", "gzip, zstd"), strings.Repeat("a", 100))
	if through(filter.Compress{MinSize: 100, Encodings: []string{"gzip", "zstd"}}.Filter(), x); x.Answer.Get("Content-Encoding") != "gzip" {
		t.Errorf("got %q", x.Answer.Get("Content-Encoding"))
	}
	misconfigured(t, filter.Compress{MinSize: -1}.Filter(), "MinSize")
	misconfigured(t, filter.Compress{Encodings: []string{"br"}}.Filter(), `"br"`)
}

func TestManyAnswersAreCompressedAtOnce(t *testing.T) {
	f := filter.Compress{}.Filter()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			x := request("Accept-Encoding", []string{"gzip", "zstd"}[worker%2])
			for i := range 50 {
				body := strings.Repeat(fmt.Sprintf(`{"worker":%d,"i":%d}`, worker, i), 100)
				x.Answer = exchange.Header{}
				if through(f, answered(x, body)); plain(t, x) != body {
					t.Error("another's document")
				}
			}
		})
	}
	wg.Wait()
}

func FuzzAcceptEncoding(f *testing.F) {
	for _, seed := range []string{"gzip, zstd;q=0.5", "*;q=0", ";;;", "gzip;q=1.0000", "identity;q=0,*", "zſtd"} {
		f.Add(seed)
	}
	compress := filter.Compress{MinSize: 1}.Filter()
	f.Fuzz(func(t *testing.T, accept string) {
		x := answered(request("Accept-Encoding", accept), document[:2000])
		through(compress, x)
		if encoding := x.Answer.Get("Content-Encoding"); encoding != "" && !regexp.MustCompile("(?i)"+encoding).MatchString(accept) && !strings.Contains(accept, "*") {
			t.Fatalf("%q got %s", accept, encoding)
		}
		if plain(t, x) != document[:2000] {
			t.Fatalf("%q: the document is lost", accept)
		}
	})
}

func BenchmarkCompressSmall(b *testing.B) {
	x := roomy("Accept-Encoding", "gzip, deflate, br, zstd")
	bench(b, filter.Compress{}.Filter(), x, func() { answered(x, `{"id":7}`) })
}

// userList is a list as services answer it.
func userList(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"Ada", "Grace", "Linus", "Ken", "Rob", "Barbara", "Edsger", "Donald", "Margaret", "Alan"}
	var b strings.Builder
	for range n {
		name := names[random.IntN(len(names))]
		fmt.Fprintf(&b, `{"id":%d,"name":"%s %x","email":"%s%d@example.com","active":%v,"score":%.3f},`,
			random.IntN(1e6), name, random.Uint32(), name, random.IntN(9999), random.IntN(2) == 0, random.Float64())
	}
	return "[" + b.String() + "{}]"
}

func BenchmarkCompress(b *testing.B) {
	for _, users := range []int{15, 400} {
		body := userList(users)
		for _, encoding := range []string{"zstd", "gzip"} {
			b.Run(fmt.Sprintf("%s/%dB", encoding, len(body)), func(b *testing.B) {
				x := roomy("Accept-Encoding", encoding)
				b.SetBytes(int64(len(body)))
				bench(b, filter.Compress{}.Filter(), x, func() { answered(x, body) })
				b.ReportMetric(float64(len(body))/float64(len(x.Out)), "ratio")
			})
		}
	}
}
