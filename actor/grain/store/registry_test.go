package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/grainstore"
)

func TestOpenSaysWhatIsWrongWithAnAddress(t *testing.T) {
	for address, says := range map[string]string{
		"":                          "want one such as nats://",
		"127.0.0.1:6379":            "want one such as nats://",
		"redis://127.0.0.1":         `import _ "github.com/sabir-go/sabir/broker/redis"`,
		"rediss://u:pw@127.0.0.1":   `broker/redis"`,
		"nats://embedded":           `broker/nats"`,
		"postgres://u:pw@host/db":   `no driver is called "postgres": there are kubernetes, nats, redis, rediss and mem`,
		"kubernetes://":             `store/kubernetes"`,
		"redis://u:pw@host:a:b/%zz": "want one such as nats://",
	} {
		_, err := store.Open(context.Background(), address)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want it to say %q", address, err, says)
		} else if strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: the password is in the error: %v", address, err)
		}
	}
}

func TestRegisterPanicsOnAMistake(t *testing.T) {
	for what, register := range map[string]func(){
		"no driver": func() { grainstore.Register("nothing", nil) },
		"no scheme": func() { grainstore.Register("", fake{}) },
		"taken":     func() { grainstore.Register("fake", fake{}); grainstore.Register("fake", fake{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			register()
		}()
	}
}
