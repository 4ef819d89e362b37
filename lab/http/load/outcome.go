package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// outcome has the figures that a tool reports for one run.
type outcome struct {
	Requests  int64         // answered
	Elapsed   time.Duration // of the load
	Mean      time.Duration // latency
	P99       time.Duration // latency
	Max       time.Duration // latency
	Bytes     float64       // received
	Not2xx    int
	Errors    int // connections that broke
	Timeouts  int
	Complaint string // the tool's words on errors
}

// check says what is wrong with a run; some timeouts are no failure, since a slow server has them with 1000 requests waiting.
func (o outcome) check() error {
	switch {
	case o.Requests <= 0 || o.Elapsed <= 0:
		return errors.New("no request was answered")
	case o.Not2xx > 0:
		return fmt.Errorf("%d answers with an error status", o.Not2xx)
	case o.Errors > 0:
		return fmt.Errorf("%d connections broke (%s)", o.Errors, o.Complaint)
	}
	return nil
}

// autocannonOutcome reads the JSON that autocannon -j writes.
func autocannonOutcome(text []byte) (outcome, error) {
	var doc struct {
		Errors   int     `json:"errors"`
		Timeouts int     `json:"timeouts"`
		Not2xx   int     `json:"non2xx"`
		Duration float64 `json:"duration"`
		Latency  struct {
			Average float64 `json:"average"`
			P99     float64 `json:"p99"`
			Max     float64 `json:"max"`
		} `json:"latency"`
		Requests struct {
			Total int64 `json:"total"`
		} `json:"requests"`
		Throughput struct {
			Total float64 `json:"total"`
		} `json:"throughput"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return outcome{}, fmt.Errorf("autocannon did not write JSON: %w: %.200s", err, text)
	}
	return outcome{Requests: doc.Requests.Total, Elapsed: time.Duration(doc.Duration * float64(time.Second)),
		Mean: milliseconds(doc.Latency.Average), P99: milliseconds(doc.Latency.P99), Max: milliseconds(doc.Latency.Max), Bytes: doc.Throughput.Total, Not2xx: doc.Not2xx,
		Errors: doc.Errors - doc.Timeouts, Timeouts: doc.Timeouts, Complaint: "autocannon does not say how"}, nil
}

var (
	wrkTotal   = regexp.MustCompile(`(\d+) requests in ([\d.]+)(us|ms|s|m|h), ([\d.]+)(B|KB|MB|GB|TB) read`)
	wrkLatency = regexp.MustCompile(`Latency +([\d.]+)(us|ms|s|m|h) +[\d.]+(?:us|ms|s|m|h) +([\d.]+)(us|ms|s|m|h)`) // mean, deviation, greatest
	wrkP99     = regexp.MustCompile(`99% +([\d.]+)(us|ms|s|m|h)`)
	wrkNot2xx  = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)`)
	wrkErrors  = regexp.MustCompile(`Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
)

// wrkOutcome reads the output of wrk --latency.
func wrkOutcome(text []byte) (outcome, error) {
	total := wrkTotal.FindStringSubmatch(string(text))
	latency, p99 := wrkLatency.FindStringSubmatch(string(text)), wrkP99.FindStringSubmatch(string(text))
	if total == nil || latency == nil || p99 == nil {
		return outcome{}, fmt.Errorf("wrk did not print its figures but: %.200s", text)
	}
	requests, err := strconv.ParseInt(total[1], 10, 64)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{Requests: requests, Elapsed: milliseconds(scaled(total[2], total[3])),
		Bytes: scaled(total[4], total[5]), Mean: milliseconds(scaled(latency[1], latency[2])), P99: milliseconds(scaled(p99[1], p99[2])),
		Max: milliseconds(scaled(latency[3], latency[4]))}
	if found := wrkNot2xx.FindStringSubmatch(string(text)); found != nil {
		o.Not2xx = whole(found[1])
	}
	if found := wrkErrors.FindStringSubmatch(string(text)); found != nil {
		o.Errors, o.Timeouts = whole(found[1])+whole(found[2])+whole(found[3]), whole(found[4])
		o.Complaint = strings.TrimSpace(found[0])
	}
	return o, nil
}

// scaled is a number with wrk's unit in milliseconds or bytes. The expressions above let only numbers and units through.
func scaled(number, unit string) float64 {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	return n * map[string]float64{"us": 1e-3, "ms": 1, "s": 1e3, "m": 60e3, "h": 3600e3,
		"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}[unit]
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func whole(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
