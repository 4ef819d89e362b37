package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

func TestTheDemoRunsForItsTimeAndEndsCleanly(t *testing.T) {
	got := sabirRun(t, "demo", "--http", ":0", "--for", "300ms", "--rate", "1000")
	if got.code != exitOK || got.errOut != "" {
		t.Errorf("%+v", got)
	}
	for _, want := range []string{"open at http://127.0.0.1:", "sabir call users.get id=u-1 --url http://127.0.0.1:", "curl ", "sabir call user.get", "has closed after 0."} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is not in:\n%s", want, got.out)
		}
	}
}

func TestTheDemoTellsProgramsWhatHappens(t *testing.T) {
	got := sabirRun(t, "demo", "--http", ":0", "--for", "300ms", "--rate", "1000", "--json")
	first, last, _ := strings.Cut(got.out, "\n")
	ready := oneJSON[map[string]string](t, first+"\n")
	summary := oneJSON[traffic](t, last)
	if ready["type"] != "ready" || ready["url"] == "" || summary.Type != "summary" || summary.Orders == 0 || summary.Mails == 0 || summary.Calls == 0 {
		t.Errorf("%+v", got)
	}
}

func TestWithoutARateOnlyYoursAreTheOrders(t *testing.T) {
	got := sabirRun(t, "demo", "--http", ":0", "--for", "100ms", "--rate", "0", "--quiet", "--json")
	if !strings.Contains(got.out, `"orders":0,`) {
		t.Errorf("%+v", got)
	}
}

func TestWhereTheUsualPortIsTakenTheDemoTakesAnother(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := taken.Addr().String()
	var errOut bytes.Buffer
	c := &cli{stderr: &errOut}
	app, err := c.openShop(t.Context(), demoFlags{addr: addr}, []sabir.NodeOption{quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if !strings.Contains(errOut.String(), "taken") {
		t.Errorf("it says %q", errOut.String())
	}
	if got := sabirRun(t, "demo", "--http", addr); got.code != exitFailed || !strings.Contains(got.errOut, addr) || !strings.Contains(got.errOut, "--http") {
		t.Errorf("a port that was asked for: %+v", got)
	}
}

func TestTheDemoAsksForTheKeyIfThereIsOne(t *testing.T) {
	t.Setenv("SABIR_HTTP_KEY", "0123456789-secret-key")
	ctx, end := context.WithCancel(t.Context())
	out := newFirstLine(func(line string) {
		defer end()
		var ready struct{ URL string }
		if err := json.Unmarshal([]byte(line), &ready); err != nil {
			t.Error(err)
			return
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Post(ready.URL+"/stock/list", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Error(err)
			return
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("a call without the key: %s", answer.Status)
		}
		connect, _ := http.NewRequestWithContext(t.Context(), "POST", ready.URL+"/"+demoPackage+".Stock/List", strings.NewReader("{}"))
		connect.Header.Set("Content-Type", "application/json")
		connect.Header.Set("Authorization", "Bearer 0123456789-secret-key")
		answer, err = client.Do(connect)
		if err != nil {
			t.Error(err)
			return
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("a call over Connect with the key: %s", answer.Status)
		}
	})
	var errOut bytes.Buffer
	if code := execute(ctx, []string{"demo", "--http", ":0", "--json"}, strings.NewReader(""), out, &errOut); code != exitOK {
		t.Errorf("exit code %d: %s", code, errOut.String())
	}
}

// firstLine is a writer that does something with the first thing written.
type firstLine struct {
	do   func(string)
	done bool
}

func newFirstLine(do func(string)) *firstLine { return &firstLine{do: do} }

func (f *firstLine) Write(p []byte) (int, error) {
	if !f.done {
		f.done = true
		f.do(string(p))
	}
	return len(p), nil
}
