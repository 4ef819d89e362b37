package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/secret"
)

func TestASecretDoesNotShowWhereverItStands(t *testing.T) {
	type inside struct {
		hidden secret.Secret // whose methods fmt cannot call
		Also   secret.Secret
	}
	value := inside{secret.New("hunter2"), secret.New("hunter2")}
	var shown bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&shown, verb+verb+verb, value, &value, value.Also)
	}
	for _, log := range []*slog.Logger{slog.New(slog.NewTextHandler(&shown, nil)), slog.New(slog.NewJSONHandler(&shown, nil))} {
		log.Info("x", "secret", value.Also, "config", value)
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	shown.Write(text)
	for _, form := range []string{"hunter2", "68756e74657232", "104 117 110", "0x68", "aHVudGVyMg"} {
		if strings.Contains(shown.String(), form) {
			t.Errorf("%s is in:\n%s", form, &shown)
		}
	}
	if string(value.Also.Bytes()) != "hunter2" || value.Also.None() {
		t.Errorf("the secret itself is %q", value.Also.Bytes())
	}
}

func TestNothingIsNoSecret(t *testing.T) {
	for _, s := range []secret.Secret{{}, secret.New(""), secret.New([]byte{})} {
		if !s.None() || s.Bytes() != nil || s.String() != "" {
			t.Errorf("%v: none %t, bytes %q", s, s.None(), s.Bytes())
		}
	}
}
