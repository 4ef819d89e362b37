package mesh

import (
	"reflect"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
)

// A peer may send anything as its description.
func FuzzParseInfo(f *testing.F) {
	f.Add(Info{Instance: 7, Addr: "tcp://h:1", Place: membership.Place{Zone: "z", Labels: map[string]string{"a": "b"}}, Codecs: []string{"native"}, Since: time.Unix(1, 0).UTC()}.encode())
	f.Add([]byte(`{"instance":-1}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		info, err := parseInfo(text)
		if err != nil {
			return
		}
		again, err := parseInfo(info.encode())
		if err != nil || !reflect.DeepEqual(again.encode(), info.encode()) {
			t.Errorf("%q is read as %+v, and written again as %+v, %v", text, info, again, err)
		}
	})
}
