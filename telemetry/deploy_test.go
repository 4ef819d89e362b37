package telemetry

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/introspect"
)

const (
	rules     = "../deploy/prometheus/sabir.rules.yml"
	rulesTest = "../deploy/prometheus/sabir.rules.test.yml"
	dashboard = "../deploy/grafana/sabir.json"
)

// ofOthers are metrics of Prometheus itself and of its client for Go.
var ofOthers = map[string]bool{"up": true, "process_cpu_seconds_total": true, "process_resident_memory_bytes": true, "go_goroutines": true}

// onThePage is every name of Sabir's metrics on the page for Prometheus.
func onThePage() map[string]bool {
	page := make(map[string]bool)
	for _, m := range metricsOf {
		for _, part := range []string{"_seconds_bucket", "_seconds_sum", "_seconds_count"} {
			page[under(m.duration)+part] = true
		}
		page[under(m.ended)+"_total"], page[under(m.errors)+"_total"], page[under(m.active)] = true, true, true
	}
	for _, s := range signalMetrics {
		page[under(s.metric)+"_total"] = true
	}
	page["sabir_breaker_open"], page["sabir_nodes_out"] = true, true
	for _, m := range (writer{}).refused(introspect.Refused{}) {
		page[under(m.Name)+"_total"] = true
	}
	for _, name := range []string{"waiting_bytes", "streams_bytes", "limit_bytes", "refused_total", "ended_total"} {
		page["sabir_memory_"+name] = true
	}
	return page
}

func under(name string) string { return strings.ReplaceAll(name, ".", "_") }

var metricName = regexp.MustCompile(`\b(?:sabir|rpc|messaging|process|go|up)(?:_[a-z_]+)?\{|\b(?:sabir_[a-z_]+(?:_total|_bytes|_bucket|_open|_out))\b`)

func TestRulesAndDashboardNameMetricsThatThePageHas(t *testing.T) {
	page := onThePage()
	for _, file := range []string{rules, rulesTest, dashboard} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := metricName.FindAllString(string(text), -1)
		if len(names) < 10 {
			t.Errorf("%s names %d metrics", file, len(names))
		}
		for _, name := range names {
			if name = strings.TrimSuffix(name, "{"); !page[name] && !ofOthers[name] {
				t.Errorf("%s names %s, which the page does not have", file, name)
			}
		}
	}
}

func TestTheRulesRaiseTheirAlertsAndNoOthers(t *testing.T) {
	promtool := brokers.Program(t, "promtool", "prometheus")
	for _, args := range [][]string{{"check", "rules", rules}, {"test", "rules", rulesTest}, {"check", "config", "../deploy/prometheus/prometheus.yml"}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

func TestEachAlertHasATestAndALineInTheGuide(t *testing.T) {
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(rulesTest)
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../docs/operate/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, alert := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(string(tests), "alertname: "+alert[1]+"\n        exp_alerts:") || !strings.Contains(string(guide), "`"+alert[1]+"`") {
			t.Errorf("%s has no test that expects it, or no line in docs/operate/alerts.md", alert[1])
		}
	}
}

// The expressions of the dashboard are checked as those of rules are, with a time in place of Grafana's variable.
func TestTheDashboardsExpressionsCanBeRead(t *testing.T) {
	promtool := brokers.Program(t, "promtool", "prometheus")
	text, err := os.ReadFile(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	list.WriteString("groups:\n- name: dashboard\n  rules:\n")
	count := 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			count++
			fmt.Fprintf(&list, "  - {record: 'r%d', expr: %q}\n", count, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
		}
	}
	if count < 20 {
		t.Errorf("the dashboard has %d expressions", count)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, &list)
	}
}
