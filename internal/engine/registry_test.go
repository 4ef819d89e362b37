package engine_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/engine"
)

func TestOpenSaysWhatToImport(t *testing.T) {
	for address, want := range map[string]string{
		"redis://ada:geheim@host": "broker/redis",
		"nats://host":             "broker/nats",
		"kafka://host":            "amqp, amqps, nats, redis, rediss and mem",
		"://":                     "nats://127.0.0.1:4222",
		"":                        "nats://127.0.0.1:4222",
	} {
		_, err := engine.Open(t.Context(), address, engine.Config{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: got %v", address, err)
		}
	}
}

func TestRegisterPanicsOnMistakes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	engine.Register("", nil)
}
