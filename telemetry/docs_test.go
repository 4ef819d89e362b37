package telemetry

import (
	"os"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/introspect"
)

func TestTheGuideListsEveryMetric(t *testing.T) {
	text, err := os.ReadFile("../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range metricsOf {
		names = append(names, m.duration, m.ended, m.active, m.errors)
	}
	for _, s := range signalMetrics {
		names = append(names, s.metric)
		if !strings.Contains(string(text), "`"+s.kind+"`") {
			t.Errorf("docs/telemetry.md does not list the signal %s", s.kind)
		}
	}
	names = append(names, "sabir.breaker.open", "sabir.signals")
	for _, m := range (writer{}).refused(introspect.Refused{}) {
		names = append(names, m.Name)
	}
	for _, m := range (writer{}).spans(SpanCounts{}) {
		names = append(names, m.Name)
	}
	for _, name := range names {
		dot := strings.LastIndexByte(name, '.')
		together := strings.Contains(string(text), "`"+name[:dot]+".") && strings.Contains(string(text), "`"+name[dot:]+"`")
		if !strings.Contains(string(text), "`"+name+"`") && !together {
			t.Errorf("docs/telemetry.md does not list %s", name)
		}
	}
}
