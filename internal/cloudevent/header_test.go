package cloudevent_test

import (
	"maps"
	"testing"

	"github.com/sabir-go/sabir/internal/cloudevent"
)

func TestAnAttributeThatStandsTwiceIsAnError(t *testing.T) {
	for _, headers := range []map[string]string{{"ce-id": "1", "Ce-Id": "2"}, {"ce-type": "1", "CE-TYPE": "1"}} {
		if a, err := cloudevent.Attributes(maps.All(headers)); err == nil {
			t.Errorf("%v is read as %v", headers, a)
		}
	}
}

// FuzzHeaders: attributes that were read are the same after they were written.
func FuzzHeaders(f *testing.F) {
	f.Add("ce-id", "1", "Content-Type", "application/json")
	f.Add("CE-subject", "Gr%C3%BC%C3%9Fe", "ce-datacontenttype", "application/cloudevents+json")
	f.Add("ce-x", `"a\"b"`, "content-type", "%zz")
	f.Fuzz(func(t *testing.T, a, first, b, second string) {
		read, err := cloudevent.Attributes(maps.All(map[string]string{a: first, b: second}))
		if err != nil {
			return
		}
		again, err := cloudevent.Attributes(cloudevent.Headers(read))
		if err != nil || !maps.Equal(read, again) {
			t.Errorf("%q becomes %q, %v", read, again, err)
		}
		for _, value := range read {
			if text := cloudevent.DecodeHeader(cloudevent.EncodeHeader(value)); text != value {
				t.Errorf("%q is decoded as %q", value, text)
			}
		}
	})
}
