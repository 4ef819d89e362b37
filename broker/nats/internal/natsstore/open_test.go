package natsstore

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

func TestErrorsOfTheServerHaveTheirClass(t *testing.T) {
	type class struct{ full, notReady, tooLarge bool }
	for _, test := range []struct {
		err  jetstream.APIError
		want class
	}{
		{jetstream.APIError{Code: 400, ErrorCode: 10002, Description: "resource limits exceeded for account"}, class{full: true}},
		{jetstream.APIError{Code: 503, ErrorCode: 10023, Description: "insufficient resources"}, class{full: true}},
		{jetstream.APIError{Code: 500, ErrorCode: 10047, Description: "insufficient storage resources available"}, class{full: true}},
		{jetstream.APIError{Code: 400, ErrorCode: 10027, Description: "maximum number of streams reached"}, class{full: true}},
		{jetstream.APIError{Code: 503, ErrorCode: 10077, Description: "maximum bytes exceeded"}, class{full: true}},
		{jetstream.APIError{Code: 503, ErrorCode: 10077, Description: "message too large"}, class{}},
		{jetstream.APIError{Code: 500, ErrorCode: 10049, Description: "write x: no space left on device"}, class{full: true}},
		{jetstream.APIError{Code: 503, ErrorCode: 10008, Description: "JetStream system temporarily unavailable"}, class{notReady: true}},
		{jetstream.APIError{Code: 400, ErrorCode: 10005, Description: "no suitable peers for placement"}, class{notReady: true}},
		{jetstream.APIError{Code: 400, ErrorCode: 10054, Description: "message size exceeds maximum allowed"}, class{tooLarge: true}},
		{jetstream.APIError{Code: 404, ErrorCode: 10059, Description: "stream not found"}, class{}},
	} {
		if got := (class{Full(&test.err), NotReady(&test.err), TooLarge(&test.err)}); got != test.want {
			t.Errorf("%d %q: got %+v, want %+v", test.err.ErrorCode, test.err.Description, got, test.want)
		}
	}
}
