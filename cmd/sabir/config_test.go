package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigSaysWhatIsWrongAndWhatIsFromWhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sabir.yaml")
	if err := os.WriteFile(file, []byte("join: tcp://:7700\nkey: hunter2-hunter2-hunter2\napp: {currency: EUR}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range os.Environ() { // those of the run of the tests themselves are no settings
		if name, value, _ := strings.Cut(line, "="); strings.HasPrefix(name, "SABIR_") {
			os.Unsetenv(name)
			t.Cleanup(func() { os.Setenv(name, value) })
		}
	}
	t.Setenv("SABIR_LOG_LEVEL", "warn")
	got := sabirRun(t, "config", "show", file)
	if got.code != 0 || !strings.Contains(got.out, "environment") || !strings.Contains(got.out, "file "+file) || strings.Contains(got.out, "hunter2") {
		t.Errorf("%d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := sabirRun(t, "config", "check", file); got.code != 0 || got.out != "good: 3 settings\n" {
		t.Errorf("%d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := oneJSON[map[string]int](t, sabirRun(t, "config", "check", file, "--json").out); got["settings"] != 3 {
		t.Errorf("%v", got)
	}
	t.Setenv("SABIR_LOG_LEVL", "warn")
	if got := sabirRun(t, "config", "check", file, "--json"); oneJSON[failureJSON](t, got.errOut).Error.Name != "CommandFailed" {
		t.Errorf("%s", got.errOut)
	}
	if got := sabirRun(t, "config", "check", file); got.code != 1 || !strings.Contains(got.errOut, "SABIR_LOG_LEVEL?") {
		t.Errorf("%d\n%s%s", got.code, got.out, got.errOut)
	}
	t.Run("what the program's code sets is not known", func(t *testing.T) {
		os.Unsetenv("SABIR_LOG_LEVL")
		t.Setenv("SABIR_KEY", "hunter2-hunter2-hunter2")
		if got := sabirRun(t, "config", "check"); got.code != 1 || !strings.Contains(got.errOut, "where the program's code or flags set it, set it here too") {
			t.Errorf("%d\n%s%s", got.code, got.out, got.errOut)
		}
		t.Setenv("SABIR_JOIN", "tcp://:7700")
		if got := sabirRun(t, "config", "check"); got.code != 0 {
			t.Errorf("%d\n%s%s", got.code, got.out, got.errOut)
		}
	})
	if got := sabirRun(t, "config", "schema"); got.code != 0 || !strings.Contains(got.out, `"$schema"`) {
		t.Errorf("%d\n%s%s", got.code, got.out, got.errOut)
	}
}
