package gossip

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"
)

func TestLinesOfGossipGetTheLevelTheyDeserve(t *testing.T) {
	tests := map[string]string{
		"[ERR] memberlist: Failed to send UDP ping: no link":                            "DEBUG",
		"[INFO] memberlist: Suspect b has failed, no acks received":                     "DEBUG",
		"[ERR] memberlist: discarding packet with unacceptable label \"other\": from=b": "WARN",
		"[WARN] memberlist: Refuting a suspect message (from: b)":                       "INFO",
		"[WARN] memberlist: Refuting a dead message (from: b)":                          "WARN",
		"[WARN] memberlist: handler queue full, dropping message (3) from=b":            "WARN",
		"a line without any of memberlist's marks":                                      "DEBUG",
	}
	for line, level := range tests {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		log.New(gossipLog{logger}, "", 0).Print(line)
		got := out.String()
		if !strings.Contains(got, "level="+level+" ") {
			t.Errorf("%q is logged as %q, want level %s", line, got, level)
		}
		if strings.Contains(got, "memberlist") && !strings.Contains(line, "marks") || strings.Contains(got, `\n`) {
			t.Errorf("%q is logged as %q", line, got)
		}
	}
}
