package webhook_test

import (
	"net/http"
	"testing"

	"github.com/sabir-go/sabir/webhook"
)

// What is read of the binary form is the same after it was written.
func FuzzHeadersOfEvents(f *testing.F) {
	f.Add("1", "/s", "t", "Gr%C3%BC%C3%9Fe", "2026-01-02T03:04:05Z", "text/plain", "x", []byte("data"))
	f.Add("", "%zz", "\"t\"", "", "now", "application/json", "", []byte("{"))
	f.Fuzz(func(t *testing.T, id, source, kind, subject, at, media, extension string, body []byte) {
		h := http.Header{"Ce-Specversion": {"1.0"}}
		for name, value := range map[string]string{"Ce-Id": id, "Ce-Source": source, "Ce-Type": kind, "Ce-Subject": subject, "Ce-Time": at, "Content-Type": media, "Ce-Ext": extension} {
			if value != "" {
				h.Set(name, value)
			}
		}
		events, err := webhook.ReadEvents(h, body)
		if err != nil || len(events) != 1 || h.Get("Content-Type") != events[0].DataType {
			return
		}
		out := http.Header{}
		written, err := webhook.WriteEvents(out, true, events)
		if err != nil {
			t.Fatalf("%v is read and cannot be written: %v", h, err)
		}
		again, err := webhook.ReadEvents(out, written)
		if err != nil {
			t.Fatalf("%v becomes %v: %v", h, out, err)
		}
		if a, b := events[0], again[0]; a.ID != b.ID || a.Source != b.Source || a.Type != b.Type || a.Subject != b.Subject || !a.Time.Equal(b.Time) || a.Extensions["ext"] != b.Extensions["ext"] || string(a.Data) != string(b.Data) {
			t.Errorf("%v becomes %v", h, out)
		}
	})
}
