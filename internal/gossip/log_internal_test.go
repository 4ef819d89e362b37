package gossip

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLinesOfGossipGetTheLevelTheyDeserve(t *testing.T) {
	tests := map[string]string{
		"[ERR] memberlist: Failed to send UDP ping: no link":                                        "level=DEBUG msg=\"gossip: Failed to send UDP ping",
		"[INFO] memberlist: Suspect b has failed, no acks received":                                 "level=DEBUG msg=\"gossip: Suspect b",
		"[ERR] memberlist: discarding packet with unacceptable label \"other\": from=b":             "level=WARN msg=\"a node of a cluster with another name",
		"[ERR] memberlist: discarding stream with unacceptable label \"other\": from=b":             "level=WARN msg=\"a node of a cluster with another name",
		"[ERR] memberlist: discarding stream with unacceptable label \"\": from=b":                  "level=DEBUG msg=\"a node looked for another one at this one's address",
		"[WARN] memberlist: Refuting a suspect message (from: b)":                                   "level=INFO msg=\"another node suspected this one",
		"[WARN] memberlist: Refuting a dead message (from: b)":                                      "level=WARN msg=\"the others removed this node",
		"[WARN] memberlist: handler queue full, dropping message (3) from=b":                        "level=WARN msg=\"more gossip comes than this node handles",
		"[WARN] memberlist: Failed to join: Node 'b' protocol version (9) is incompatible: [1, 5]":  "level=WARN msg=\"a node whose gossip this one cannot read",
		"[DEBUG] memberlist: Failed to join: x509: certificate specifies an incompatible key usage": "level=DEBUG msg=\"gossip: Failed to join",
		"a line without any of memberlist's marks":                                                  "level=DEBUG msg=\"gossip: a line",
	}
	for line, want := range tests {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		log.New(gossipLog{log: logger}, "", 0).Print(line)
		got := out.String()
		if !strings.Contains(got, want) {
			t.Errorf("%q is logged as %q, want %s", line, got, want)
		}
		if strings.Contains(got, "memberlist") && !strings.Contains(line, "marks") || strings.Contains(got, `\n`) {
			t.Errorf("%q is logged as %q", line, got)
		}
	}
}

func TestANodeThatIsBackUnderItsIDIsNotSaidToHaveBeenSuspectedOrRemoved(t *testing.T) {
	for line, want := range map[string]string{
		"[WARN] memberlist: Refuting a dead message (from: b)":    "removed this node",
		"[WARN] memberlist: Refuting a suspect message (from: b)": "suspected this one",
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			lines := log.New(gossipLog{slog.New(slog.NewTextHandler(&out, nil)), time.Now()}, "", 0)
			time.Sleep(returning - 1)
			lines.Print(line)
			if out.Len() > 0 {
				t.Errorf("of its earlier run: %s", &out)
			}
			time.Sleep(1)
			lines.Print(line)
			if !strings.Contains(out.String(), want) {
				t.Errorf("of this run: %q", &out)
			}
		})
	}
}
