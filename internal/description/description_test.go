package description_test

import (
	"encoding/json"
	"testing"

	"github.com/sabir-go/sabir/internal/description"
)

// Tools in other languages read the documents as JSON, so their form stays.
func TestDescriptionsHaveTheirFormAsJSON(t *testing.T) {
	for _, tc := range []struct {
		document any
		want     string
	}{
		{description.Error{Code: "NotFound", Name: "NoUser", Message: "no", Data: 1}, `{"code":"NotFound","name":"NoUser","message":"no","data":1}`},
		{description.Emit{Event: "e", Payload: json.RawMessage("1")}, `{"event":"e","payload":1,"broadcast":false}`},
	} {
		got, err := json.Marshal(tc.document)
		if err != nil || string(got) != tc.want {
			t.Errorf("%T: %v\n got %s\nwant %s", tc.document, err, got, tc.want)
		}
	}
}
