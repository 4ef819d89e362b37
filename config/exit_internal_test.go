package config

import (
	"strings"
	"testing"
)

func TestAskingForHelpIsNoMistake(t *testing.T) {
	for arg, want := range map[string]struct {
		status int
		on     string // what it is written to
		text   string
	}{
		"--help":          {0, "out", "these are the flags"},
		"-h":              {0, "out", "--http.address"},
		"--http.adress=x": {2, "err", "config: flags: "},
	} {
		_, err := Load(Config{Args: []string{arg}, Env: []string{}})
		written := map[string]*strings.Builder{"out": {}, "err": {}}
		if status := report(err, written["out"], written["err"]); status != want.status || !strings.HasPrefix(written[want.on].String(), want.text) && !strings.Contains(written["out"].String(), want.text) {
			t.Errorf("%s: status %d, out %q, err %q", arg, status, written["out"], written["err"])
		}
		if written["out"].Len() > 0 == (written["err"].Len() > 0) {
			t.Errorf("%s: out %q, err %q", arg, written["out"], written["err"])
		}
	}
}
