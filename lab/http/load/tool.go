package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/http/ask"
)

// load is one action of one server, asked for with a tool.
type load struct {
	job         ask.Job
	action      string
	address     string
	connections int
	pipelined   int // requests under way on each connection
}

// slack is the time that a tool may run beyond its duration.
const slack = 20 * time.Second

// measure runs the tool once, and then asks the server whether it is as it was.
func (l load) measure(d time.Duration) (child.Sample, error) {
	o, err := l.run(d)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return child.Sample{}, err
	}
	if err := l.job.Server.CheckAgain(context.Background(), l.address); err != nil {
		return child.Sample{}, fmt.Errorf("after the load: %w", err)
	}
	return child.Sample{Operations: o.Requests, Elapsed: o.Elapsed, Figures: map[string]float64{
		"mean": float64(o.Mean), "p99": float64(o.P99), "max": float64(o.Max), "output": o.Bytes / o.Elapsed.Seconds()}}, nil
}

func (l load) run(d time.Duration) (outcome, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), d+slack, fmt.Errorf("%s did not end within %s of its duration", l.job.Kind, slack))
	defer cancel()
	arguments, parse := l.autocannon(d), autocannonOutcome
	if l.job.Kind == ask.Wrk {
		script, err := l.scriptFile()
		if err != nil {
			return outcome{}, err
		}
		defer os.Remove(script)
		arguments, parse = l.wrk(d, script), wrkOutcome
	}
	var output, complaints bytes.Buffer
	line := append(append([]string{}, l.job.Tool...), arguments...)
	command := exec.CommandContext(ctx, line[0], line[1:]...)
	command.Dir, command.Env = l.job.Dir, append(os.Environ(), l.job.Env...)
	command.Stdout, command.Stderr, command.WaitDelay = &output, &complaints, time.Second
	endsWithThis(command)
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return outcome{}, context.Cause(ctx)
		}
		return outcome{}, fmt.Errorf("%s: %w: %s", l.job.Kind, err, strings.Join(strings.Fields(complaints.String()), " "))
	}
	return parse(output.Bytes())
}

func (l load) url() string { return "http://" + l.address + l.job.Server.Path(l.action) }

// autocannon's arguments for one run.
func (l load) autocannon(d time.Duration) []string {
	arguments := []string{"-j", "-c", strconv.Itoa(l.connections), "-p", strconv.Itoa(l.pipelined), "-d", seconds(d)}
	if l.action == ask.UpdateUser {
		arguments = append(arguments, "-m", "POST", "-H", "content-type=application/json", "-b", ask.GoodBody)
	}
	return append(arguments, l.url())
}

// wrk's arguments for one run.
func (l load) wrk(d time.Duration, script string) []string {
	return []string{"-t1", "-c" + strconv.Itoa(l.connections), "-d" + seconds(d) + "s", "--latency", "-s", script, l.url()}
}

// seconds is a duration in whole seconds, at least one: neither tool knows fractions.
func seconds(d time.Duration) string {
	return strconv.Itoa(int(max(d.Round(time.Second), time.Second) / time.Second))
}

// scriptFile is a new file with script.
func (l load) scriptFile() (string, error) {
	file, err := os.CreateTemp("", "lab-wrk-*.lua")
	if err != nil {
		return "", fmt.Errorf("wrk's script: %w", err)
	}
	_, err = file.WriteString(l.script())
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		os.Remove(file.Name())
		return "", fmt.Errorf("wrk's script: %w", err)
	}
	return file.Name(), nil
}

// script is the Lua that wrk runs: the same text always, with as many requests as are to be under way.
func (l load) script() string {
	method, body := "GET", ""
	if l.action == ask.UpdateUser {
		method, body = "POST", "wrk.body = "+strconv.Quote(ask.GoodBody)+"\nwrk.headers[\"Content-Type\"] = \"application/json\"\n"
	}
	return fmt.Sprintf(`wrk.method = %q
%slocal all
init = function()
  all = string.rep(wrk.format(nil, %q), %d)
end
request = function() return all end
`, method, body, l.job.Server.Path(l.action), l.pipelined)
}
