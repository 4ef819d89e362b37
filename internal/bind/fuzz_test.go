package bind_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	sabirjson "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/bind"
)

// Whatever a query is, the input is JSON with the values that net/url reads of it, or there is an error. The opposite is
// held too: where net/url reads values that fit, there is no error.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"page=3&name=a+b&tag=x&tag=y", "n%61me=%C3%A4&years=1&years=02", "deep+search=true&deep%20search=false", "name=%ff&x=%zz", "tag=\"&tag=\\&&=", "tag[]=a&tag%5B%5D=b&tag=c&name[]=d", "page=-1&ratio=1e3;", "a;b=c", "ratio=1e999&page=99999999999999999999"} {
		f.Add(seed)
	}
	b := bind.New(newRoute[search](f, "GET", "/search/{id}"))
	open := bind.New(newRoute[map[string]any](f, "GET", "/search/{id}"))
	f.Fuzz(func(t *testing.T, query string) {
		out, err := b.Append(nil, request([]string{"7"}, query))
		values, parsed := slowQuery(query, "tag", "years")
		if err == nil {
			var got map[string]json.RawMessage // a number may be too large for any type
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%q became %s: %v", query, out, err)
			}
			checkText(t, out, "name", values["name"])
			checkList(t, out, "tags", values["tag"])
			checkDigits(t, out, "page", values["page"])
			checkDigits(t, out, "ratio", values["ratio"])
		} else if _, ok := errors.AsType[bind.Errors](err); !ok || out != nil {
			t.Fatalf("%q: %T %v, %s", query, err, err, out)
		}
		if fits := parsed && fits(values); fits && err != nil {
			t.Fatalf("%q fits, but %v", query, err)
		}
		values, parsed = slowQuery(query)
		out, err = open.Append(nil, request([]string{"7"}, query))
		if err != nil {
			return
		}
		var got map[string]string
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%q became %s: %v", query, out, err)
		}
		values["id"] = []string{"7"}
		if !parsed || len(got) != len(values) {
			t.Fatalf("%q became %s", query, out)
		}
		for name, list := range values {
			if text, there := got[name]; !there || text != list[0] || len(list) > 1 {
				t.Fatalf("%q: %q became %q", query, name, text)
			}
		}
	})
}

// slowQuery reads a query with net/url, pair by pair, since that package minds semicolons. It is false where something
// cannot be decoded or there are too many pairs. The names of lists may have brackets.
func slowQuery(query string, lists ...string) (values url.Values, ok bool) {
	values, ok = make(url.Values), strings.Count(query, "&") < bind.MaxPairs
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, wrongName := url.QueryUnescape(name)
		value, wrongValue := url.QueryUnescape(value)
		if wrongName != nil || wrongValue != nil {
			ok = false
			continue
		}
		if list, brackets := strings.CutSuffix(name, "[]"); brackets && slices.Contains(lists, list) {
			name = list
		}
		values[name] = append(values[name], value)
	}
	return values, ok
}

// fits reports whether a search takes the values.
func fits(values url.Values) bool {
	for name, list := range values {
		switch name {
		case "name", "deep search", "page", "ratio", "code":
			if len(list) > 1 {
				return false
			}
		}
		for _, v := range list {
			switch name {
			case "name", "tag", "code":
				if !utf8.ValidString(v) {
					return false
				}
			case "page", "years":
				if !isJSONNumber(v) || strings.ContainsAny(v, ".eE") {
					return false
				}
			case "ratio":
				if !isJSONNumber(v) {
					return false
				}
			case "deep search":
				if v != "true" && v != "false" {
					return false
				}
			}
		}
	}
	return true
}

func isJSONNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789+-.eE") == "" && json.Valid([]byte(s))
}

func member[T any](t *testing.T, text []byte, name string) (value T, there bool) {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	raw, there := all[name]
	if !there {
		return value, false
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value, true
}

func checkText(t *testing.T, text []byte, name string, want []string) {
	t.Helper()
	got, there := member[string](t, text, name)
	if there != (len(want) == 1) || there && got != want[0] {
		t.Fatalf("%s: %s is %q, want %q", text, name, got, want)
	}
}

func checkDigits(t *testing.T, text []byte, name string, want []string) {
	t.Helper()
	got, there := member[json.RawMessage](t, text, name)
	if there != (len(want) == 1) || there && string(got) != want[0] {
		t.Fatalf("%s: %s is %q, want %q", text, name, got, want)
	}
}

func checkList(t *testing.T, text []byte, name string, want []string) {
	t.Helper()
	got, there := member[[]string](t, text, name)
	if there != (want != nil) || !slices.Equal(got, want) {
		t.Fatalf("%s: %s is %q, want %q", text, name, got, want)
	}
}

// Whatever is in a path, a header, a cookie and a body, the input is JSON where the body is, and what is decoded of it is
// what was given: nothing of a body reaches the fields that come from elsewhere.
func FuzzInput(f *testing.F) {
	f.Add(int64(7), "north", "true", `{"name":"Ada","age":36}`)
	f.Add(int64(-7), "", "", `{"id":8}`)
	f.Add(int64(0), "a\"b", "false", ` { "tenant" : "x" } `)
	f.Add(int64(0), "\xff", "x", `{`)
	f.Add(int64(0), "", "", `{}}`)
	f.Add(int64(0), "", "", `{"a":{"id":1,"id":2}`)
	f.Add(int64(0), "", "", `null`)
	b := bind.New(newRoute[change](f, "PUT", "/users/{id}"))
	f.Fuzz(func(t *testing.T, id int64, tenant, dry, body string) {
		x := request([]string{strconv.FormatInt(id, 10)}, "dry-run="+url.QueryEscape(dry), "X-Tenant: "+tenant)
		x.Body = []byte(body)
		out, err := b.Append(make([]byte, 0, 64), x)
		if string(x.Body) != body {
			t.Fatal("the body was changed")
		}
		if err != nil {
			if dry == "true" && utf8.ValidString(tenant) && isObject(body) {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		blank := strings.Trim(body, " \t\r\n") == ""
		if !blank && json.Valid(out) != json.Valid(x.Body) || blank && !json.Valid(out) {
			t.Fatalf("%q became %s", body, out)
		}
		var in change
		if sabirjson.Codec.Decode(out, &in) != nil {
			return
		}
		if in.ID != id || in.Tenant != strings.Trim(tenant, " \t") || strconv.FormatBool(in.Dry) != dry {
			t.Fatalf("%d %q %q and %s became %+v", id, tenant, dry, body, in)
		}
		var alone change
		if !blank {
			if err := sabirjson.Codec.Decode(x.Body, &alone); err != nil {
				t.Fatalf("%s was refused, but not %s: %v", body, out, err)
			}
		}
		if alone.Name != in.Name || alone.Age != in.Age {
			t.Fatalf("%s became %+v", body, in)
		}
	})
}

func isObject(body string) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal([]byte(body), &members) == nil && members != nil
}

// Headers and cookies that are lists or texts never make anything but JSON.
func FuzzHeader(f *testing.F) {
	f.Add("en, de", "fr", "session=a; b=c")
	f.Add(",,", "\"\\", "session=\"a\"; session=b")
	b := bind.New(newRoute[search](f, "GET", "/search/{id}"))
	f.Fuzz(func(t *testing.T, first, second, cookie string) {
		out, err := b.Append(nil, request([]string{"7"}, "", "X-Lang: "+first, "X-Lang: "+second, "X-Tenant: "+second, "Cookie: "+cookie))
		if valid := utf8.ValidString(first + "," + second); !valid && err == nil {
			t.Fatalf("text that is not valid UTF-8 became %s", out)
		}
		if err != nil {
			return
		}
		var want []string
		for element := range strings.SplitSeq(first+","+second, ",") {
			if element = strings.Trim(element, " \t"); element != "" {
				want = append(want, element)
			}
		}
		langs, _ := member[[]string](t, out, "langs")
		if tenant, _ := member[string](t, out, "tenant"); tenant != strings.Trim(second, " \t") || !slices.Equal(langs, want) {
			t.Fatalf("%q and %q became %s", first, second, out)
		}
	})
}

type sent struct {
	ID      int      `json:"id"`
	Name    string   `json:"name" form:"name" validate:"required"`
	Tags    []string `json:"tags" form:"tag"`
	Picture []byte   `json:"picture" form:"picture"`
}

// Whatever a form is, the input is JSON with the values that the standard library reads of it, or there is an error.
func FuzzForm(f *testing.F) {
	f.Add("name=a+b&tag=x&tag=%26", false)
	f.Add("name=%zz&name=b", false)
	f.Add("--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAda\r\n--x\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"a\"\r\n\r\n\x00\xff\r\n--x--", true)
	f.Add("--x\r\n\r\nno name\r\n--x", true)
	b := bind.New(newRoute[sent](f, "POST", "/sent/{id}"))
	f.Fuzz(func(t *testing.T, body string, parts bool) {
		x := request([]string{"7"}, "")
		x.Body = []byte(body)
		kind := "application/x-www-form-urlencoded"
		if parts {
			kind = "multipart/form-data; boundary=x"
		}
		x.Header.Add("Content-Type", kind)
		if !b.TakesForm(x) {
			t.Fatal("the form is not taken")
		}
		out, err := b.Append(nil, x)
		if err != nil {
			if _, ok := errors.AsType[bind.Errors](err); !ok || out != nil {
				t.Fatalf("%q: %T %v, %s", body, err, err, out)
			}
			return
		}
		var got sent
		if err := sabirjson.Codec.Decode(out, &got); err != nil && json.Unmarshal(out, new(map[string]any)) != nil {
			t.Fatalf("%q became %s: %v", body, out, err)
		}
		plain, _ := http.NewRequest("POST", "/", strings.NewReader(body))
		plain.Header.Set("Content-Type", kind)
		if plain.ParseMultipartForm(1<<20) == nil || !parts {
			if want := plain.PostForm["name"]; len(want) == 1 && got.Name != want[0] {
				t.Fatalf("%q: the name is %q, want %q", body, got.Name, want[0])
			}
		}
	})
}
