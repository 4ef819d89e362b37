package dashboard

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir"
)

// stub is a span of a trace.
func stub(traceID, id byte, name string, failed bool) sdktrace.ReadOnlySpan {
	s := tracetest.SpanStub{Name: name, SpanKind: trace.SpanKindServer, StartTime: time.Unix(1e9, int64(id)), EndTime: time.Unix(1e9, int64(id)+5000),
		SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: traceID}, SpanID: trace.SpanID{7: id}}),
		Attributes:  []attribute.KeyValue{attribute.String("sabir.service", "books"), attribute.String("long", strings.Repeat("x", 3*maxDetail))}}
	if failed {
		s.Status = sdktrace.Status{Code: codes.Error, Description: "lost"}
		s.Attributes = append(s.Attributes, attribute.String("sabir.error.name", "BooksLost"))
	}
	return s.Snapshot()
}

func TestARingKeepsTheLastSpansAndThoseThatFailedLonger(t *testing.T) {
	r := Traces(0)
	must(t, r.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{stub(1, 250, "bad", true)}))
	for i := range byte(200) {
		must(t, r.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{stub(2, i, fmt.Sprint(i), false)}))
	}
	got := r.all()
	if len(got) != minRing+1 || got[0].Name() != "bad" || got[1].Name() != "199" || got[len(got)-1].Name() != fmt.Sprint(200-minRing) {
		t.Errorf("%d: %s, %s … %s", len(got), got[0].Name(), got[1].Name(), got[len(got)-1].Name())
	}
	for i := range byte(200) {
		must(t, r.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{stub(3, i, "bad", true)}))
	}
	if got := r.all(); len(got) != minRing {
		t.Errorf("%d: one that failed is there twice", len(got))
	}
	must(t, r.Shutdown(t.Context()))
}

func TestARingCanBeReadWhileItIsFilled(t *testing.T) {
	r := Traces(64)
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			for i := range byte(250) {
				_ = r.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{stub(1, i, "a", i%3 == 0)})
				r.all()
			}
		})
	}
	busy.Wait()
}

func TestTheDetailsOfASpanAreBounded(t *testing.T) {
	info := infoOf(stub(1, 1, strings.Repeat("n", 3*maxDetail), true), "n1", true)
	if len(info.Name) > maxDetail+3 || len(info.Details["long"]) > maxDetail+3 || info.Error != "BooksLost" || !info.Failed || info.Details["status"] != "lost" || info.Took != 5 {
		t.Errorf("%d %d %+v", len(info.Name), len(info.Details["long"]), info.Error)
	}
	if brief := infoOf(stub(1, 1, "a", false), "n1", false); brief.Details != nil {
		t.Errorf("%+v", brief)
	}
}

func TestTracesOfTheClusterAreListedAndShown(t *testing.T) {
	n := counted(t)
	b := boardOf(t, n, config{})
	_, err := sabir.CallJSON(t.Context(), n, "ledger.lose", nil)
	if err == nil {
		t.Fatal("it did not fail")
	}
	var list traceList
	until(t, "the trace is exported", func() bool {
		list = traceList{}
		w := b.ask(t, "GET", "/api/traces", "")
		must(t, json.Unmarshal(w.Body.Bytes(), &list))
		return len(list.Traces) > 0
	})
	one := list.Traces[0]
	if one.Name != "ledger.lose" || one.Error != "BooksLost" || one.Failed != 1 || one.Nodes[0] != "n1" || one.Took <= 0 || len(list.Answered) != 1 || len(list.Mute) != 0 {
		t.Errorf("%+v", list)
	}
	var all traceSpans
	w := b.ask(t, "GET", "/api/trace?id="+one.Trace, "")
	must(t, json.Unmarshal(w.Body.Bytes(), &all))
	if len(all.Spans) != one.Spans || all.Spans[0].Details["sabir.service"] != "ledger" {
		t.Errorf("%s", w.Body)
	}
	for path, status := range map[string]int{"/api/trace?id=" + strings.Repeat("0", 32): 404, "/api/trace?id=x": 400, "/api/trace": 400, "/api/trace?id=" + strings.Repeat("G", 32): 400} {
		if w := b.ask(t, "GET", path, ""); w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestTracesAreNotCalledFromOutside(t *testing.T) {
	n := counted(t)
	if a := n.Action("$traces.recent"); a == nil || !a.ClusterOnly {
		t.Errorf("%+v", a)
	}
	w := boardOf(t, n, config{}).ask(t, "POST", "/api/call", `{"action":"$traces.recent"}`, callHeader+": 1")
	if w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestANodeWithoutARingIsListedAsMute(t *testing.T) {
	b := openBoard(t, config{})
	var list traceList
	must(t, json.Unmarshal(b.ask(t, "GET", "/api/traces", "").Body.Bytes(), &list))
	if len(list.Mute) != 1 || len(list.Answered) != 0 || list.Traces == nil {
		t.Errorf("%+v", list)
	}
	var f nodeAnswers
	must(t, json.Unmarshal(b.ask(t, "GET", "/api/processes", "").Body.Bytes(), &f))
	if len(f.Nodes) != 1 || f.Nodes[0].Why != mute {
		t.Errorf("%+v", f)
	}
	if w := b.ask(t, "GET", "/api/processes?node=n9", ""); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}
