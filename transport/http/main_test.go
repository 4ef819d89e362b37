package http_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// environment is the proxy that HTTP_PROXY and HTTPS_PROXY name in these tests.
var environment *proxy

func TestMain(m *testing.M) {
	var err error
	if environment, err = startProxy(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		os.Setenv(name, "http://user:secret@"+environment.listener.Addr().String())
	}
	os.Unsetenv("NO_PROXY")
	os.Unsetenv("no_proxy")
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}
