package redact_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/redact"
)

func TestAURLIsShownWithoutItsPassword(t *testing.T) {
	for address, want := range map[string]string{
		"redis://user:hunter2@host:6379": "redis://user:xxxxx@host:6379",
		"redis://host:6379/1":            "redis://host:6379/1",
		"redis://user:hunter2%@host":     redact.Hidden,
	} {
		if got := redact.URL(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}
