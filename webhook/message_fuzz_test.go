package webhook_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/webhook"
)

// What is read of a message of a channel, in either mode, is the same after it was written in both.
func FuzzMessagesOfEvents(f *testing.F) {
	f.Add("1.0", "1", "/s", "t", "application/json", "ext", "Grüße", []byte(`{"a":1}`))
	f.Add("", "", "", "", "application/cloudevents+json", "", "", []byte(`{"specversion":"1.0","id":"1","source":"/s","type":"t","n":1,"data":"text"}`))
	f.Add("", "", "", "", "", "", "", []byte(`{"specversion":"1.0","id":"1","source":"/s","type":"t","datacontenttype":"image/png","data_base64":"AAE="}`))
	f.Add("1.0", "1", "/s", "t", "", "", "", []byte(` "&" `))
	f.Add("0.3", "1", "%", "t", "Application/CloudEvents+avro; charset=x", "time", "now", []byte("\x00"))
	f.Fuzz(func(t *testing.T, version, id, source, kind, media, name, value string, data []byte) {
		m := engine.Message{Data: data, Attributes: map[string]string{name: value}}
		for name, value := range map[string]string{"specversion": version, "id": id, "source": source, "type": kind, "datacontenttype": media} {
			if value != "" {
				m.Attributes[name] = value
			}
		}
		if name == "" {
			delete(m.Attributes, name)
		}
		var read webhook.Event
		if read.ReadMessage(&m) != nil {
			return
		}
		for _, binary := range []bool{false, true} {
			var written engine.Message
			if err := read.WriteMessage(&written, binary); err != nil {
				t.Fatalf("%+v is read and cannot be written: %v", read, err)
			}
			var again webhook.Event
			if err := again.ReadMessage(&written); err != nil {
				t.Fatalf("%+v becomes %+v: %v", read, written, err)
			}
			if !binary && read.DataType == "" || binary && read.DataType == "" && read.Data == nil {
				again.DataType = ""
			} else if read.DataType == "" {
				read.DataType = "application/json" // as what it stands for
			}
			if !binary && json.Valid(read.Data) { // spaces around a value are no part of it
				read.Data, again.Data = bytes.TrimSpace(read.Data), bytes.TrimSpace(again.Data)
			}
			if !sameEvent(read, again) {
				t.Errorf("%+v becomes %+v", read, again)
			}
		}
	})
}
