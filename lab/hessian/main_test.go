package main

import (
	"strings"
	"testing"
)

func TestContendersUnderstandEachOther(t *testing.T) {
	if err := check(contenders()); err != nil {
		t.Error(err)
	}
}

func TestSmokeRunMeasuresEveryContender(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-quick"}, &out, &out); err != nil {
		t.Fatal(err)
	}
	for _, c := range append(contenders(), typed()...) {
		if !strings.Contains(out.String(), c.name) {
			t.Errorf("%s is not in the table:\n%s", c.name, &out)
		}
	}
}
