package sabir

import (
	stdjson "encoding/json"
	"testing"
)

func TestJSONDocumentsBecomeWhatTheySayAndBack(t *testing.T) {
	var bytes []byte
	if err := convertInto(&bytes, &[]stdjson.RawMessage{stdjson.RawMessage(`"AQI="`)}[0]); err != nil || string(bytes) != "\x01\x02" {
		t.Errorf("bytes are %x, %v", bytes, err)
	}
	var text stdjson.RawMessage
	if err := convertInto(&text, &[]byte{1, 2}); err != nil || string(text) != `"AQI="` {
		t.Errorf("the document is %s, %v", text, err)
	}
	var other stdjson.RawMessage
	given := stdjson.RawMessage(` {"a": 1} `)
	if err := convertInto(&other, &given); err != nil || string(other) != ` {"a": 1} ` {
		t.Errorf("a document becomes %s, %v", other, err)
	}
	var number int64
	big := stdjson.RawMessage(`9223372036854775807`)
	if err := convertInto(&number, &big); err != nil || number != 9223372036854775807 {
		t.Errorf("the number is %d, %v", number, err)
	}
	if err := convertInto(&number, &stdjson.RawMessage{'x'}); err == nil {
		t.Error("what is no JSON became a number")
	}
}
