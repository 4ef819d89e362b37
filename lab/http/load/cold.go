package main

import (
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/http/ask"
)

// starts is the number of times that one measurement starts a server.
const starts = 3

// coldStarts has the figures "start", the least time of a few starts, and "slowest". The least says most, since what a start
// takes besides is other work on the machine.
func coldStarts(job ask.Job) (child.Sample, error) {
	var s child.Sample
	var times []time.Duration
	for range starts {
		took, err := coldStart(job)
		if err != nil {
			return child.Sample{}, err
		}
		times = append(times, took)
		s.Operations++
		s.Elapsed += took
	}
	s.Figures = map[string]float64{"start": float64(slices.Min(times)), "slowest": float64(slices.Max(times))}
	return s, nil
}

// coldStart is the time from before the process is made to its first good answer to hello.
func coldStart(job ask.Job) (time.Duration, error) {
	begun := time.Now()
	p, err := startServer(job)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	conn, err := p.connect()
	if err != nil {
		return 0, p.explain(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(begun.Add(startTimeout)); err != nil {
		return 0, err
	}
	err = job.Server.Answer(conn, p.address)
	return time.Since(begun), p.explain(err)
}
