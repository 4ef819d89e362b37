package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sabir-go/sabir"
)

// numbersIn has every kind of number.
type numbersIn struct {
	I   int     `json:"i" validate:"gte=-5,lte=5"`
	I8  int8    `json:"i8"`
	I64 int64   `json:"i64"`
	U   uint    `json:"u" validate:"max=100"`
	U8  uint8   `json:"u8"`
	U64 uint64  `json:"u64"`
	F32 float32 `json:"f32"`
	F64 float64 `json:"f64" validate:"gt=0,lt=1000"`
}

type textsIn struct {
	Plain  string `json:"plain" validate:"required,min=2,max=10"`
	Mail   string `json:"mail" validate:"email"`
	Link   string `json:"link" validate:"omitempty,url"`
	Choice string `json:"choice" validate:"oneof=red green"`
	UUID   string `json:"uuid" validate:"omitempty,uuid"`
	IP     string `json:"ip" validate:"omitempty,ip"`
	Digits string `json:"digits" validate:"omitempty,numeric"`
	Bytes  []byte `json:"bytes" validate:"max=4"`
	Secret string `json:"secret" validate:"omitempty,min=4" sabir:"secret"`
}

type timesIn struct {
	At    time.Time     `json:"at" validate:"required"`
	Maybe *time.Time    `json:"maybe"`
	Wait  time.Duration `json:"wait" validate:"gte=0"`
	Until time.Time     `json:"until" validate:"required"`
}

type nodeIn struct {
	Name string             `json:"name" validate:"required"`
	Kids []nodeIn           `json:"kids" validate:"max=3,dive"`
	Next *nodeIn            `json:"next"`
	By   map[string]*nodeIn `json:"by" validate:"dive,keys,max=3,endkeys"`
	Pair [2]int             `json:"pair"`
}

type mapsIn struct {
	Counts map[string]int       `json:"counts" validate:"required,min=1,dive,gte=0"`
	ByID   map[int64]string     `json:"byId" validate:"dive,required"`
	Deep   map[string][]float64 `json:"deep"`
	Any    any                  `json:"any"`
	Raw    json.RawMessage      `json:"raw"`
}

type boundIn struct {
	ID     int64         `json:"id" validate:"gte=1"`
	Name   string        `json:"name" validate:"required,max=5"`
	Tags   []string      `json:"tags" query:"tag" validate:"max=2,dive,max=3"`
	At     time.Time     `json:"at"`
	Wait   time.Duration `json:"wait"`
	On     *bool         `json:"on"`
	Rate   float64       `json:"rate"`
	Small  int8          `json:"small"`
	Agent  string        `json:"agent" header:"X-Agent" validate:"max=8"`
	Seat   int           `json:"seat" cookie:"seat" validate:"max=8"`
	Choice string        `json:"choice" validate:"omitempty,oneof=a b"`
}

// taker is an action that gives back what it takes.
func taker[T any](s *sabir.Service, name string, options ...sabir.ActionOption) {
	sabir.Handle(s, name, func(_ context.Context, in T) (T, error) { return in, nil }, options...)
}

// takers is a service with an action for each kind of input, and an input for each that it takes.
func takers() (*sabir.Service, map[string]string) {
	s := sabir.NewService("take")
	taker[numbersIn](s, "numbers")
	taker[textsIn](s, "texts")
	taker[timesIn](s, "times")
	taker[nodeIn](s, "tree")
	taker[mapsIn](s, "maps")
	taker[[]textsIn](s, "list")
	taker[map[string]numbersIn](s, "table")
	taker[[3]uint16](s, "triple")
	taker[*nodeIn](s, "pointer")
	taker[int64](s, "whole")
	taker[time.Time](s, "moment")
	taker[[]byte](s, "bytes")
	taker[any](s, "anything")
	taker[boundIn](s, "bound", sabir.Route("GET", "/bound/{id}"), sabir.Route("PUT", "/bound/{id}/{name}"))
	const text = `{"plain":"abc","mail":"a@b.example","link":"https://a.example","choice":"red","uuid":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","ip":"::1","digits":"12","bytes":"AAAA","secret":"hunter2"}`
	const number = `{"i":1,"i8":2,"i64":9007199254740993,"u":3,"u8":4,"u64":18446744073709551615,"f32":1.5,"f64":2.5}`
	const tree = `{"name":"a","kids":[{"name":"b","kids":[],"next":null,"by":{},"pair":[1,2]}],"next":{"name":"c"},"by":{"x":{"name":"d"}},"pair":[3,4]}`
	return s, map[string]string{
		"numbers":  number,
		"texts":    text,
		"times":    `{"at":"2026-01-02T03:04:05Z","maybe":"2026-01-02T03:04:05.123456789+05:30","wait":1000,"until":"2027-01-02T03:04:05Z"}`,
		"tree":     tree,
		"maps":     `{"counts":{"a":1},"byId":{"7":"x","-8":"y"},"deep":{"a":[1.5,2]},"any":{"x":[1]},"raw":{"y":1}}`,
		"list":     "[" + text + "]",
		"table":    `{"a":` + number + `}`,
		"triple":   `[1,2,65535]`,
		"pointer":  tree,
		"whole":    `-9223372036854775808`,
		"moment":   `"2026-01-02T03:04:05Z"`,
		"bytes":    `"aGVsbG8="`,
		"anything": `{"a":[1,"2",null,{"b":true}]}`,
		"bound":    `{"id":1,"name":"a","tags":["x"],"at":"2026-01-02T03:04:05Z","wait":1,"on":true,"rate":0.5,"small":1,"agent":"me","seat":1,"choice":"a"}`,
	}
}

// nasty holds the replacements of a value.
var nasty = []string{
	`null`, `true`, `0`, `-1`, `1.5`, `-0`, `1e2`, `1e400`, `-1e400`, `1e-400`, `255`, `256`, `65536`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775809`,
	`18446744073709551616`, strings.Repeat("9", 400), `""`, `" "`, `"x"`, `"` + strings.Repeat("x", 5000) + `"`, `"\u0000"`, `"\ud800"`, "\"\xff\"", `"\u202e<script>"`,
	`"` + strings.Repeat("é", 11) + `"`, `"NaN"`, `"1"`, `"2026-02-30T00:00:00Z"`, `"9999-12-31T23:59:60Z"`, `"2026-01-02T03:04:05+99:99"`, `"0000-00-00T00:00:00Z"`, `"10000-01-01T00:00:00Z"`,
	`"not base64!"`, `"AAA"`, `[]`, `[null]`, `[[]]`, `[1,2,3,4,5]`, `["a","b"]`, `{}`, `{"":0}`, `{"a":null}`, `{"a":{"a":{}}}`, `{"a":1,"a":2}`, `{"` + strings.Repeat("k", 300) + `":1}`,
	strings.Repeat("[", 200) + strings.Repeat("]", 200), `{"99999999999999999999":"x"}`, `{"1.5":"x"}`, `NaN`, ``, `,`, `}`, `'x'`, `0x10`, `01`, `"`, `{`,
}

// mutants is the text with each of its values replaced, taken out, and doubled; and with unknown members.
func mutants(t *testing.T, text string) (list []string) {
	t.Helper()
	for _, at := range valuesOf(t, text) {
		for _, other := range nasty {
			list = append(list, text[:at[0]]+other+text[at[1]:])
		}
		list = append(list, text[:at[0]]+text[at[1]:], text[:at[0]], text[:at[1]], text[:at[1]]+text[at[0]:])
	}
	if text[0] == '{' {
		list = append(list, `{"unknown":[{}],`+text[1:], `{"\u0000":1,`+text[1:], `{"__proto__":{"x":1},`+text[1:])
	}
	return append(list, text, text+text, "\ufeff"+text, text+"\x00")
}

// valuesOf returns where the text's values begin and end, the whole one included.
func valuesOf(t *testing.T, text string) (spans [][2]int) {
	d := json.NewDecoder(strings.NewReader(text))
	var open []int
	var names []bool // one for each level: an object, of which a name comes next
	value := func(from int) {
		spans = append(spans, [2]int{from, int(d.InputOffset())})
	}
	for {
		before := int(d.InputOffset())
		token, err := d.Token()
		if err == io.EOF {
			return spans
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for strings.IndexByte(" ,:", text[before]) >= 0 {
			before++
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			open = append(open, before)
			names = append(names, token == json.Delim('{'))
			continue
		case json.Delim('}'), json.Delim(']'):
			value(open[len(open)-1])
			open, names = open[:len(open)-1], names[:len(names)-1]
		default:
			if n := len(names); n > 0 && names[n-1] {
				names[n-1] = false
				continue // a name
			}
			value(before)
		}
		if n := len(open); n > 0 && text[open[n-1]] == '{' {
			names[n-1] = true
		}
	}
}

// checkRefusal holds that an answer to bad input is one, and names each fault with its place.
func checkRefusal(t *testing.T, about string, got answer) {
	t.Helper()
	switch got.status {
	case 200:
		if !json.Valid([]byte(got.body)) {
			t.Errorf("%s: 200 with %.200q", about, got.body)
		}
		return
	case 400, 413, 415, 422:
	default:
		t.Errorf("%s: %d %.300s", about, got.status, got.body)
		return
	}
	p := got.problem(t)
	if p.Status != got.status || p.Detail == "" || p.Name == "" {
		t.Errorf("%s: %d with %+v", about, got.status, p)
	}
	if got.status != 422 {
		return
	}
	faults, _ := p.Data.([]any)
	for _, fault := range faults {
		field, _ := fault.(map[string]any)
		pointer, named := field["pointer"].(string)
		if !named || field["rule"] == nil || field["message"] == "" || pointer != "" && pointer[0] != '/' {
			t.Errorf("%s: the fault %v", about, fault)
		}
	}
	if p.Name != "ValidationFailed" || len(faults) == 0 {
		t.Errorf("%s: 422 without faults: %.300s", about, got.body)
	}
	if strings.Contains(got.body, "hunter") {
		t.Errorf("%s: a secret is shown: %s", about, got.body)
	}
}

// sender asks over one connection of each kind that a client keeps.
func sender(t *testing.T) func(method, url, body string, headers ...string) answer {
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return func(method, url, body string, headers ...string) answer {
		t.Helper()
		r, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body != "" || method == "POST" {
			r.Header.Set("Content-Type", "application/json")
		}
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		response, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatalf("%s %.100s %.100q: %v", method, url, body, err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer{response.StatusCode, response.Header, string(text)}
	}
}

func TestNoBadBodyMakesAnActionFail(t *testing.T) {
	t.Parallel()
	service, inputs := takers()
	w := worldOf(t, nil, service)
	send := sender(t)
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		text := inputs[name]
		if got := send("POST", w.base+"/take/"+name, text); got.status != 200 {
			t.Fatalf("%s does not take its own input: %d %s", name, got.status, got.body)
		}
		refused := 0
		for i, mutant := range mutants(t, text) {
			if name == "list" && i%3 > 0 || name == "table" && i%2 > 0 || name == "pointer" && i%4 > 0 {
				continue // much the same as others
			}
			got := send("POST", w.base+"/take/"+name, mutant)
			if got.status != 200 {
				refused++
			}
			checkRefusal(t, fmt.Sprintf("%s with %.100q", name, mutant), got)
		}
		if refused == 0 {
			t.Errorf("%s refused nothing", name)
		}
	}
}

// A seeded generator breaks texts at several places at once, byte by byte.
func TestNoBrokenBytesMakeAnActionFail(t *testing.T) {
	t.Parallel()
	service, inputs := takers()
	w := worldOf(t, nil, service)
	send := sender(t)
	dice := rand.New(rand.NewPCG(7, 8))
	names := slices.Sorted(maps.Keys(inputs))
	statuses := make(map[int]int)
	for range 1500 {
		name := names[dice.IntN(len(names))]
		body := []byte(inputs[name])
		for range 1 + dice.IntN(4) {
			at := dice.IntN(len(body))
			switch dice.IntN(4) {
			case 0:
				body[at] = byte(dice.IntN(256))
			case 1:
				body = slices.Delete(body, at, min(len(body), at+1+dice.IntN(4)))
			case 2:
				body = slices.Insert(body, at, []byte(nasty[dice.IntN(len(nasty))])...)
			case 3:
				from := dice.IntN(len(body))
				body = slices.Insert(body, at, body[from:min(len(body), from+dice.IntN(40))]...)
			}
			if len(body) == 0 {
				body = []byte("0")
			}
		}
		got := send("POST", w.base+"/take/"+name, string(body))
		statuses[got.status]++
		checkRefusal(t, fmt.Sprintf("%s with %.200q", name, body), got)
	}
	if statuses[200] == 0 || statuses[400] == 0 || statuses[422] == 0 {
		t.Errorf("not all kinds of answers came: %v", statuses)
	}
}

// oddTexts come in place of the text of a path, a query, a header or a cookie.
var oddTexts = []string{"", "0", "-1", "1.5", "1e3", "9223372036854775808", "0x10", " 1", "１", "NaN", "Inf", "true", "TRUE", "null", "[]", "{}", "\"x\"", "a", "abcdefghij", "\x00", "\xff",
	"é", "\u202e", "..", ".", "/", "%", "%2F", "%zz", "%00", ";", "a;b", "a&b", "a=b", "2026-02-30T00:00:00Z", "1s", "1h30m", strings.Repeat("9", 400), strings.Repeat("x", 3000), "<script>", "\r\nX: y", "\t"}

func TestNoBadParameterMakesAnActionFail(t *testing.T) {
	t.Parallel()
	service, _ := takers()
	w := worldOf(t, nil, service)
	send := sender(t)
	judge := func(about string, got answer) {
		t.Helper()
		if got.status == 404 && strings.HasPrefix(about, "path") {
			return // of another address
		}
		if got.status == 400 && strings.Contains(got.body, "RFC 9112") {
			return // of a target that is none: it did not come so far
		}
		checkRefusal(t, about, got)
		if got.status == 400 {
			p := got.problem(t)
			if faults, ok := p.Data.([]any); ok {
				for _, fault := range faults {
					if field := fault.(map[string]any); field["in"] == nil || field["message"] == "" {
						t.Errorf("%s: the fault %v", about, field)
					}
				}
			}
		}
	}
	for _, odd := range oddTexts {
		for _, text := range []string{url.QueryEscape(odd), odd} {
			if strings.ContainsAny(text, "\x00\r\n\t ") || !utf8.ValidString(text) {
				continue // no client can send it; FuzzParameters does
			}
			for _, name := range []string{"name", "tag", "at", "wait", "on", "rate", "small", "choice", "id", "nobody"} {
				u := w.base + "/bound/1?name=a&" + name + "=" + text
				if got, ok := sendRaw(send, "GET", u); ok {
					judge("query "+u, got)
				}
				if got, ok := sendRaw(send, "GET", w.base+"/bound/1?name=a&tag=x&"+text+"="+name); ok {
					judge("query name "+text, got)
				}
			}
			for _, u := range []string{w.base + "/bound/" + text + "?name=a", w.base + "/bound/1/" + text} {
				method := "GET"
				if strings.Contains(u, "/1/") {
					method = "PUT"
				}
				if got, ok := sendRaw(send, method, u); ok {
					judge("path "+u, got)
				}
			}
		}
		if !strings.ContainsAny(odd, "\x00\r\n") {
			judge("header "+odd, send("GET", w.base+"/bound/1?name=a", "", "X-Agent: "+odd))
			judge("cookie "+odd, send("GET", w.base+"/bound/1?name=a", "", "Cookie: seat="+odd))
			judge("cookies "+odd, send("GET", w.base+"/bound/1?name=a", "", "Cookie: "+odd+"; seat=1; seat="+odd+"; "+odd+"=1"))
			judge("metadata "+odd, send("POST", w.base+"/h/meta", "{}", "X-Meta-Odd: "+odd))
			judge("a trace "+odd, send("POST", w.base+"/h/meta", "{}", "Traceparent: "+odd))
			judge("a time limit "+odd, send("POST", w.base+"/h/any", "{}", "X-Request-Timeout: "+odd))
			judge("a request id "+odd, send("POST", w.base+"/h/any", "{}", "X-Request-Id: "+odd))
			judge("a media type "+odd, send("POST", w.base+"/h/any", "{}", "Content-Type: "+odd))
			judge("a media type with "+odd, send("POST", w.base+"/h/any", "{}", "Content-Type: application/json; charset="+odd))
			judge("an encoding "+odd, send("POST", w.base+"/h/any", "{}", "Content-Encoding: "+odd))
			judge("what it accepts "+odd, send("POST", w.base+"/h/any", "{}", "Accept: "+odd))
			judge("an origin "+odd, send("GET", w.base+"/bound/1?name=a", "", "Origin: "+odd))
			judge("a condition "+odd, send("GET", w.base+"/bound/1?name=a", "", "If-None-Match: "+odd))
			if got := send("GET", w.base+"/bound/1", "", "Authorization: Bearer "+odd); got.status >= 500 {
				t.Errorf("a key %q: %d", odd, got.status)
			}
		}
	}
	for about, body := range map[string]string{"a list": `[]`, "a field of the path": `{"id":2}`, "null": `null`, "half": `{"at":`, "a wrong type": `{"rate":"x"}`, "text": `"x"`} {
		judge("body "+about, send("PUT", w.base+"/bound/1/a", body))
	}
}

// sendRaw asks with a target as it is; not ok where the client itself cannot send it.
func sendRaw(send func(method, url, body string, headers ...string) answer, method, target string) (got answer, ok bool) {
	if _, err := http.NewRequest(method, target, nil); err != nil {
		return answer{}, false
	}
	return send(method, target, ""), true
}
