package telemetry_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newTelemetry makes a Telemetry that is shut down at the end of the test.
func newTelemetry(t *testing.T, config telemetry.Config) *telemetry.Telemetry {
	t.Helper()
	tel, err := telemetry.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Shutdown(context.Background()) })
	return tel
}

// start runs a node for the length of a test.
func start(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	return startNamed(t, "n1", options...)
}

func startNamed(t *testing.T, id string, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(append([]sabir.NodeOption{sabir.NodeID(id), sabir.Logger(quiet)}, options...)...)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, node) })
	return node
}

func stop(t *testing.T, node *sabir.Node) {
	t.Helper()
	if node.State() != "running" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := node.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// page is the page that Prometheus reads, parsed by Prometheus's own parser.
type page map[string]*dto.MetricFamily

func scrape(t *testing.T, tel *telemetry.Telemetry) page {
	t.Helper()
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// labels are pairs of name and value.
type labels map[string]string

// find is the metric of a family that has exactly the labels; nil if there is none.
func (p page) find(family string, want labels) *dto.Metric {
	for _, m := range p[family].GetMetric() {
		have := labels{}
		for _, l := range m.GetLabel() {
			have[l.GetName()] = l.GetValue()
		}
		all := len(have) == len(want)
		for name, value := range want {
			all = all && have[name] == value
		}
		if all {
			return m
		}
	}
	return nil
}

// value is the value of a counter or gauge, -1 when there is none.
func (p page) value(family string, want labels) float64 {
	m := p.find(family, want)
	switch {
	case m == nil:
		return -1
	case m.Counter != nil:
		return m.GetCounter().GetValue()
	}
	return m.GetGauge().GetValue()
}

// expect compares a counter or gauge.
func (p page) expect(t *testing.T, family string, with labels, want float64) {
	t.Helper()
	if got := p.value(family, with); got != want {
		t.Errorf("%s%v is %v, want %v; the page has %v", family, with, got, want, p[family])
	}
}

// expectTimes compares how many durations a histogram holds.
func (p page) expectTimes(t *testing.T, family string, with labels, want uint64) {
	t.Helper()
	m := p.find(family, with)
	if m == nil {
		t.Fatalf("no %s%v; the page has %v", family, with, p[family])
	}
	if got := m.GetHistogram().GetSampleCount(); got != want {
		t.Errorf("%s%v holds %d, want %d", family, with, got, want)
	}
}

// and is the labels and one more.
func (l labels) and(name, value string) labels {
	more := labels{name: value}
	for k, v := range l {
		more[k] = v
	}
	return more
}
