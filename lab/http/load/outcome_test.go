package main

import (
	"strings"
	"testing"
	"time"
)

const wrkText = `Running 1s test @ http://127.0.0.1:4101/updateUser
  1 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     5.67ms  788.00us  16.21ms   95.61%
    Req/Sec    17.64k     1.05k   18.51k    80.00%
  Latency Distribution
     50%    5.51ms
     75%    5.78ms
     90%    6.20ms
     99%    9.32ms
  17562 requests in 1.01s, 3.80MB read
Requests/sec:  17442.78
Transfer/sec:      3.78MB
`

func TestWrksFiguresAreRead(t *testing.T) {
	got, err := wrkOutcome([]byte(wrkText))
	want := outcome{Requests: 17562, Elapsed: 1010 * time.Millisecond, Mean: 5670 * time.Microsecond, P99: 9320 * time.Microsecond, Max: 16210 * time.Microsecond, Bytes: 3.80 * (1 << 20)}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if err := got.check(); err != nil {
		t.Errorf("a good run: %v", err)
	}
}

func TestWrksUnits(t *testing.T) {
	text := strings.NewReplacer("5.67ms", "980.50us", "9.32ms", "1.20s", "1.01s", "1.50m", "3.80MB", "2.00GB").Replace(wrkText)
	got, err := wrkOutcome([]byte(text))
	want := outcome{Requests: 17562, Elapsed: 90 * time.Second, Mean: 980500, P99: 1200 * time.Millisecond, Max: 16210 * time.Microsecond, Bytes: 2 << 30}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestWrksComplaintsFailARun(t *testing.T) {
	for text, want := range map[string]string{
		"  Non-2xx or 3xx responses: 17\n":                               "17 answers with an error status",
		"  Socket errors: connect 1, read 2, write 3, timeout 4\n":       "6 connections broke",
		"  Socket errors: connect 0, read 0, write 0, timeout 4\n":       "",
		strings.Repeat("x", 3) + "Non-2xx or 3xx responses: none at all": "",
	} {
		got, err := wrkOutcome([]byte(wrkText + text))
		if err != nil {
			t.Fatal(err)
		}
		err = got.check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestOutputThatIsNoneIsAnError(t *testing.T) {
	for _, text := range []string{"", "unable to connect to 127.0.0.1:1 Connection refused\n", wrkText[:200]} {
		if _, err := wrkOutcome([]byte(text)); err == nil {
			t.Errorf("wrk: %q gave no error", text)
		}
	}
	if _, err := autocannonOutcome([]byte("Error: no")); err == nil {
		t.Error("autocannon: no error")
	}
}

func TestAutocannonsFiguresAreRead(t *testing.T) {
	got, err := autocannonOutcome([]byte(`{"errors":5,"timeouts":3,"non2xx":7,"duration":1.5,"latency":{"average":2.25,"p99":9,"max":11.5},
		"requests":{"average":1000,"total":3000},"throughput":{"total":600000}}`))
	want := outcome{Requests: 3000, Elapsed: 1500 * time.Millisecond, Mean: 2250 * time.Microsecond, P99: 9 * time.Millisecond, Max: 11500 * time.Microsecond, Bytes: 600000, Not2xx: 7, Errors: 2, Timeouts: 3,
		Complaint: "autocannon does not say how"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestARunWithoutAnswersIsNone(t *testing.T) {
	if err := (outcome{Elapsed: time.Second}).check(); err == nil {
		t.Error("no error")
	}
}

func TestDurationsAreWholeSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "1", 1400 * time.Millisecond: "1", 2 * time.Second: "2", 2600 * time.Millisecond: "3"} {
		if got := seconds(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func FuzzOutcomes(f *testing.F) {
	f.Add(wrkText)
	f.Add(`{"errors":5,"duration":1.5,"latency":{"average":2.25,"p99":9},"requests":{"total":3000}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for name, read := range map[string]func([]byte) (outcome, error){"wrk": wrkOutcome, "autocannon": autocannonOutcome} {
			if o, err := read([]byte(text)); err == nil && o.check() == nil && (o.Requests <= 0 || o.Elapsed <= 0) {
				t.Errorf("%s: %q gave %+v", name, text, o)
			}
		}
	})
}
