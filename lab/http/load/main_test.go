package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/http/ask"
	"github.com/sabir-go/sabir/lab/http/bare"
)

// fakeVariable makes this test program a server; it says how, and the argument is the address.
const fakeVariable = "SABIR_LAB_LOAD_FAKE"

func TestMain(m *testing.M) {
	if how := os.Getenv(fakeVariable); how != "" {
		serve(how, os.Args[1:])
		return
	}
	goleak.VerifyTestMain(m)
}

func serve(how string, arguments []string) {
	switch how {
	case "parent":
		parent()
	case "crash":
		fmt.Fprintln(os.Stderr, "no memory left")
		os.Exit(3)
	}
	log.Fatal(http.ListenAndServe(arguments[0], http.HandlerFunc(answerBarely)))
}

// parent starts a server, says where it is, and waits for its own end.
func parent() {
	p, err := startServer(fakeJob("good"))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := p.connect(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.address)
	select {}
}

// answerBarely answers as the limits do.
func answerBarely(w http.ResponseWriter, r *http.Request) {
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n", r.Method, r.URL.Path, max(r.ContentLength, 0))
	body := make([]byte, max(r.ContentLength, 0))
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return
	}
	answer, _, err := bare.Answer(nil, append([]byte(text), body...))
	if err != nil {
		return
	}
	head, rest, _ := strings.Cut(string(answer), "\r\n\r\n")
	if !strings.HasPrefix(head, "HTTP/1.1 200") {
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	fmt.Fprint(w, rest)
}

func fakeJob(how string) ask.Job {
	return ask.Job{Command: []string{os.Args[0]}, Env: []string{fakeVariable + "=" + how}}
}

func order(t *testing.T, work string, job ask.Job) child.Order {
	t.Helper()
	extra, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	return child.Order{Work: work, Callers: 20, Extra: extra}
}

func TestAServerIsStartedAFewTimes(t *testing.T) {
	job, err := start(order(t, ask.ColdStart, fakeJob("good")))
	if err != nil {
		t.Fatal(err)
	}
	s, err := job.Measure(0)
	if err != nil || s.Operations != starts || s.Figures["start"] <= 0 || s.Figures["slowest"] < s.Figures["start"] {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestIdleConnectionsAreOpenedAndAnswered(t *testing.T) {
	job, err := start(order(t, ask.IdleConnections, fakeJob("good")))
	if err != nil {
		t.Fatal(err)
	}
	s, err := job.Measure(0)
	if err != nil || s.Operations != 20 || s.Figures["before"] <= 0 || s.Figures["all"] <= 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAServerThatEndsSaysWhy(t *testing.T) {
	for _, work := range []string{ask.ColdStart, ask.IdleConnections} {
		job, err := start(order(t, work, fakeJob("crash")))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := job.Measure(0); err == nil || !strings.Contains(err.Error(), "the server ended (exit status 3). It said: no memory left") {
			t.Errorf("%s: %v", work, err)
		}
	}
}

func TestWhatIsNotKnownIsAnError(t *testing.T) {
	if _, err := start(child.Order{Work: ask.Hello}); err == nil {
		t.Error("an order without a job was taken")
	}
	if _, err := start(order(t, "sing", ask.Job{})); err == nil {
		t.Error("work that is not known was taken")
	}
}

// scripted is a load on a good server by a tool that is a shell script.
func scripted(t *testing.T, kind, script string) load {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := startServer(fakeJob("good"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	l := load{job: ask.Job{Kind: kind, Tool: []string{file}}, action: ask.UpdateUser, address: p.address, connections: 100, pipelined: 10}
	if err := l.ready(); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestALoadIsASample(t *testing.T) {
	l := scripted(t, ask.Wrk, "cat <<'END'\n"+wrkText+"END")
	s, err := l.measure(time.Second)
	if err != nil || s.Operations != 17562 || s.Elapsed != 1010*time.Millisecond || s.Figures["mean"] != 5.67e6 || s.Figures["p99"] != 9.32e6 {
		t.Errorf("%+v, %v", s, err)
	}
	l = scripted(t, ask.Autocannon, `echo '{"duration":2,"requests":{"total":10},"throughput":{"total":4000}}'`)
	if s, err = l.measure(time.Second); err != nil || s.Operations != 10 || s.Figures["output"] != 2000 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestALoadThatFailsSaysWhy(t *testing.T) {
	for script, wants := range map[string]string{
		"echo no such host >&2; exit 1":                                    "wrk: exit status 1: no such host",
		"cat <<'END'\n" + wrkText + "\n  Non-2xx or 3xx responses: 5\nEND": "5 answers with an error status",
		"echo hello": "wrk did not print its figures",
	} {
		if _, err := scripted(t, ask.Wrk, script).measure(time.Second); err == nil || !strings.Contains(err.Error(), wants) {
			t.Errorf("%q: %v, want %q", script, err, wants)
		}
	}
}

func TestALoadThatDoesNotEndIsStopped(t *testing.T) {
	_, err := scripted(t, ask.Wrk, "exec sleep 60").run(100*time.Millisecond - slack)
	if err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Errorf("got %v", err)
	}
}

func TestToolsAskForTheAction(t *testing.T) {
	l := load{action: ask.UpdateUser, address: "a:1", connections: 7, pipelined: 3}
	if got := strings.Join(l.autocannon(time.Second), " "); got != "-j -c 7 -p 3 -d 1 -m POST -H content-type=application/json -b "+ask.GoodBody+" http://a:1/updateUser" {
		t.Errorf("autocannon %s", got)
	}
	if got := l.script(); !strings.Contains(got, `wrk.method = "POST"`) || !strings.Contains(got, `wrk.format(nil, "/updateUser"), 3)`) || !strings.Contains(got, `wrk.body = "{\"id\":1`) {
		t.Errorf("wrk's script is\n%s", got)
	}
	l.action, l.job.Server.Hello = ask.Hello, "/h"
	if got := strings.Join(l.wrk(2*time.Second, "x.lua"), " "); got != "-t1 -c7 -d2s --latency -s x.lua http://a:1/h" {
		t.Errorf("wrk %s", got)
	}
	if got := l.script(); !strings.Contains(got, `wrk.method = "GET"`) || strings.Contains(got, "wrk.body") {
		t.Errorf("wrk's script is\n%s", got)
	}
}

func TestWhatIsStartedEndsWithThis(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux does that")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), fakeVariable+"=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer parent.Wait()
	defer parent.Process.Kill()
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(startTimeout)); err != nil {
		t.Fatal(err)
	}
	parent.Process.Kill()
	if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server goes on without the process that has started it")
	}
}
