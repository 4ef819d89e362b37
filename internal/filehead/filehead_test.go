package filehead

import (
	"net/http"
	"strings"
	"testing"
)

func TestAHeadIsReadByItsKeyOnly(t *testing.T) {
	r, _ := http.NewRequest("GET", "/", nil)
	r.Header.Set("Range", "bytes=0-4")
	r.Header.Set("If-Range", strings.Repeat("x", maxCondition+1))
	key, metadata := Ask(r)
	if other, _ := Ask(r); other == key {
		t.Error("two requests have one key")
	}
	if metadata["range"] != "bytes=0-4" || metadata["if-range"] != "" {
		t.Errorf("the conditions are %v", metadata)
	}
	if got, method := Wanted(metadata); got != key || method != "GET" {
		t.Errorf("wanted is %q, %q", got, method)
	}
	if got, _ := Wanted(map[string]string{metadataKey: "x GET"}); got != "" {
		t.Errorf("what is no key is taken: %q", got)
	}
	for value, want := range map[string]struct{ is, fails bool }{
		"content": {}, "": {}, "head-x{}": {},
		key + `{"status":206,"header":{"Content-Range":"bytes 0-4/9"}}`: {is: true},
		key + `{"status":200}`:                               {is: true},
		key + `{"status":101}`:                               {true, true},
		key + `{"status":200,"header":{"Set-Cookie":"a=b"}}`: {true, true},
		key + `{"status":200,"header":{"Etag":"a\r\nb: c"}}`: {true, true},
		key: {true, true},
		key + `{"status":200,"header":{"Etag":"` + strings.Repeat("x", maxHead) + `"}}`: {true, true},
	} {
		head, is, err := Read([]byte(value), key)
		if is != want.is || (err != nil) != want.fails || (head != nil) != (is && err == nil) {
			t.Errorf("%.80q: %v, %v, %v", value, head, is, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	const key = "head-k"
	f.Add([]byte(key + `{"status":206,"header":{"Content-Range":"bytes 0-4/9"}}`))
	f.Add([]byte("content"))
	f.Fuzz(func(t *testing.T, value []byte) {
		head, is, err := Read(value, key)
		if is != strings.HasPrefix(string(value), key) || (head != nil) != (is && err == nil) {
			t.Errorf("%q: %v, %v, %v", value, head, is, err)
		}
	})
}
