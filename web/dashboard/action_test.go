package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

func (b *dashboard) callAction(tb testing.TB, body string) (int, callAnswer) {
	tb.Helper()
	w := b.ask(tb, "POST", "/api/call", body, callHeader+": 1")
	var a callAnswer
	must(tb, json.Unmarshal(w.Body.Bytes(), &a))
	return w.Code, a
}

func TestAnActionIsCalledAndItsAnswerKeepsAllDigits(t *testing.T) {
	b := openBoard(t, config{})
	code, a := b.callAction(t, `{"action":"ledger.book","input":{"id":9007199254740993,"kind":"debit","lines":[{"account":"cash"}]}}`)
	if code != 200 || a.Status != 200 || a.Output != `{"id":9007199254740993,"lines":1,"text":"<b>debit</b>"}` || a.Took <= 0 || a.Request == "" || a.Problem != nil {
		t.Errorf("%d %+v", code, a)
	}
	if _, a := b.callAction(t, `{"action":"ledger.book","node":"n1","input":{"id":1,"kind":"credit","lines":[{"account":"cash"}]}}`); a.Status != 200 {
		t.Errorf("on a node by name: %+v", a)
	}
}

func TestTheFailureOfACallIsReported(t *testing.T) {
	b := openBoard(t, config{})
	for name, test := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"a rule is broken":    {`{"action":"ledger.book","input":{"id":0,"kind":"debit","lines":[]}}`, 422, "id"},
		"the action fails":    {`{"action":"ledger.lose"}`, 500, "lost at sea"},
		"no node of the name": {`{"action":"ledger.lose","node":"n9"}`, 503, "n9"},
	} {
		_, a := b.callAction(t, test.body)
		if a.Problem == nil || a.Status != a.Problem.Status || !strings.Contains(a.Problem.Detail, test.says) || a.Status < 400 {
			t.Errorf("%s: %+v %+v", name, a, a.Problem)
		}
	}
	for name, test := range map[string]struct {
		body   string
		status int
	}{
		"none of that name":      {`{"action":"ledger.none"}`, 404},
		"one that is not public": {`{"action":"ledger.hidden"}`, 404},
		"no call":                {`[]`, 400},
		"no JSON":                {`{`, 400},
		"too much":               {`{"action":"` + strings.Repeat("x", maxCallBody) + `"}`, 413},
	} {
		if w := b.ask(t, "POST", "/api/call", test.body, callHeader+": 1"); w.Code != test.status {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestALongAnswerIsCut(t *testing.T) {
	b := openBoard(t, config{})
	if _, a := b.callAction(t, `{"action":"ledger.large"}`); a.Status != 200 || a.Output != "" || len(a.Truncated) != 4096 || a.Size < 2<<20 {
		t.Errorf("%d %d %d", a.Status, len(a.Truncated), a.Size)
	}
}

func TestAReadOnlyDashboardCallsNothing(t *testing.T) {
	called := false
	s := sabir.NewService("tell")
	sabir.Handle(s, "tale", func(context.Context, struct{}) (struct{}, error) { called = true; return struct{}{}, nil })
	n := openNode(t, sabir.Serve(s))
	c := config{}
	c.readOnly = true
	b := boardOf(t, n, c)
	if w := b.ask(t, "POST", "/api/call", `{"action":"tell.tale"}`, callHeader+": 1"); w.Code != http.StatusForbidden || called {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	r := read(t, serve(t, b)+"/api/stream")
	defer r.close()
	if h := want[hello](r, "hello"); !h.ReadOnly {
		t.Errorf("%+v", h)
	}
}

func TestTheSchemasOfAnActionAreShown(t *testing.T) {
	answerCache := 0
	source := func(_ context.Context, _ *sabir.Node, node, action string) (json.RawMessage, error) {
		answerCache++
		if action == "ledger.lose" {
			return nil, errors.New("no such thing")
		}
		return json.RawMessage(`{"in":{"type":"object"},"node":"` + node + `"}`), nil
	}
	b := openBoard(t, config{schemas: source})
	began := time.Now()
	for range 5 {
		if w := b.ask(t, "GET", "/api/action?name=ledger.book", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `{"type":"object"},"node":"n1"`) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if took := time.Since(began); answerCache > 1+int(took/keepTime) {
		t.Errorf("asked %d times for five browsers within %v", answerCache, took)
	}
	if w := b.ask(t, "GET", "/api/action?name=ledger.lose", ""); w.Code != 200 || !strings.Contains(w.Body.String(), "no such thing") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := b.ask(t, "GET", "/api/action?name=none.such", ""); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAnswersThatAreKeptAreBounded(t *testing.T) {
	a := newAnswerCache()
	for i := range 3 * maxAnswers {
		v, err := a.get(t.Context(), strings.Repeat("x", i), func(context.Context) (any, error) { return i, nil })
		if err != nil || v != i {
			t.Fatal(v, err)
		}
	}
	if len(a.answers) > maxAnswers {
		t.Errorf("%d are kept", len(a.answers))
	}
}

func TestACallerThatCancelsLeavesTheAnswerToOthers(t *testing.T) {
	a := newAnswerCache()
	begun, goOn := make(chan struct{}), make(chan struct{})
	slow := func(context.Context) (any, error) { close(begun); <-goOn; return 1, nil }
	impatient, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if _, err := a.get(impatient, "x", slow); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	began := time.Now()
	close(goOn)
	v, err := a.get(t.Context(), "x", func(context.Context) (any, error) { return "another", nil })
	if took := time.Since(began); err != nil || v != 1 && took < keepTime {
		t.Error(v, err)
	}
}
