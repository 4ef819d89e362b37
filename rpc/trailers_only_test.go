package rpc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

// Clients that try again by a policy of their own do so only where the error is in the only block of headers.
func TestAnErrorBeforeTheFirstMessageOfGRPCIsInTheOnlyHeaders(t *testing.T) {
	url, _ := serve(t, []sabir.Servable{calc()}, web.With(web.Config{BodyLimit: 64 << 10}))
	guarded, _ := serve(t, []sabir.Servable{calc()}, web.With(web.Config{Auth: []auth.Authenticator{&auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada"}}}}}))
	connection := client(t, false)
	for about, test := range map[string]struct {
		path    string
		body    []byte
		headers map[string]string
		status  string
	}{
		"an action's error":               {"/test.v1.Calc/Busy", make([]byte, 5), nil, "14"},
		"that of a compressed call":       {"/test.v1.Calc/Busy", make([]byte, 5), map[string]string{"Grpc-Encoding": "gzip"}, "14"},
		"that of a long call":             {"/test.v1.Calc/Sign-up", framed(t, text{strings.Repeat("x", 20<<10)}), nil, "12"},
		"a message that is too long":      {"/test.v1.Calc/Echo", framed(t, text{strings.Repeat("x", 80<<10)}), nil, "8"},
		"no such method":                  {"/test.v1.Calc/None", make([]byte, 5), nil, "12"},
		"an unknown compression":          {"/test.v1.Calc/Echo", make([]byte, 5), map[string]string{"Grpc-Encoding": "zstd"}, "12"},
		"a stream's error":                {"/test.v1.Calc/Total", []byte{0, 0, 0, 0, 1, 0xff}, nil, "13"},
		"no such service":                 {"/nobody.v1.None/Get", make([]byte, 5), nil, "12"},
		"an unknown service's health":     {"/grpc.health.v1.Health/Check", framed(t, text{"nobody"}), nil, "5"},
		"an unreadable Watch":             {"/grpc.health.v1.Health/Watch", []byte{0, 0, 0, 0, 1, 0xff}, nil, "3"},
		"an unknown method of health":     {"/grpc.health.v1.Health/List", make([]byte, 5), nil, "12"},
		"unreadable reflection":           {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", []byte{0, 0, 0, 0, 1, 0xff}, nil, "3"},
		"unreadable old reflection":       {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", []byte{0, 0, 0, 0, 1, 0xff}, nil, "3"},
		"an unknown method of reflection": {"/grpc.reflection.v1.ServerReflection/None", make([]byte, 5), nil, "12"},
		"no key":                          {guarded, make([]byte, 5), nil, "16"},
	} {
		t.Run(about, func(t *testing.T) {
			to := url + test.path
			if test.path == guarded {
				to = guarded + "/test.v1.Calc/Echo"
			}
			answer, got := postFrames(t, connection, to, bytes.NewReader(test.body), test.headers)
			if answer.StatusCode != 200 || answer.Header.Get("Grpc-Status") != test.status || len(answer.Trailer) != 0 || len(got) != 0 {
				t.Errorf("%s, headers %v, trailers %v, %q", answer.Status, answer.Header, answer.Trailer, got)
			}
		})
	}
	answer, got := postFrames(t, connection, url+"/test.v1.Calc/Chat", bytes.NewReader(nil), nil)
	if answer.Header.Get("Grpc-Status") != "" || answer.Trailer.Get("Grpc-Status") != "0" || len(got) != 0 {
		t.Errorf("a stream without values: headers %v, trailers %v, %q", answer.Header, answer.Trailer, got)
	}
	answer, got = postFrames(t, connection, url+"/test.v1.Calc/Count", bytes.NewReader(framed(t, sumIn{2, 1})), nil)
	if answer.Header.Get("X-Answer") != "header" || answer.Header.Get("Grpc-Status") != "" || answer.Trailer.Get("Grpc-Status") != "9" || len(got) != 0 {
		t.Errorf("a stream that has set headers: headers %v, trailers %v, %q", answer.Header, answer.Trailer, got)
	}
}
