package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/http/ask"
)

// answerTime is the time in which a connection must get its only answer.
const answerTime = 5 * time.Second

// idleConnections starts a server and opens connections to it, one after another, which are answered once and then stay open.
// Figures are "each", the server's memory for one of them, "all", its memory with all, and "before".
func idleConnections(job ask.Job, connections int) (child.Sample, error) {
	p, err := startServer(job)
	if err != nil {
		return child.Sample{}, err
	}
	defer p.stop()
	s, err := idle(job, p, connections)
	return s, p.explain(err)
}

func idle(job ask.Job, p *process, connections int) (child.Sample, error) {
	first, err := p.connect()
	if err != nil {
		return child.Sample{}, err
	}
	first.Close()
	if err := job.Server.Check(context.Background(), p.address); err != nil {
		return child.Sample{}, err
	}
	before, err := p.resident()
	if err != nil {
		return child.Sample{}, err
	}
	open := make([]net.Conn, 0, connections)
	defer func() {
		for _, conn := range open {
			conn.Close()
		}
	}()
	begun := time.Now()
	for n := range connections {
		conn, err := net.DialTimeout("tcp", p.address, answerTime)
		if err != nil {
			return child.Sample{}, fmt.Errorf("connection %d: %w (see ulimit -n)", n+1, err)
		}
		open = append(open, conn)
		if err := conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
			return child.Sample{}, err
		}
		if err := job.Server.Answer(conn, p.address); err != nil {
			return child.Sample{}, fmt.Errorf("connection %d: %w", n+1, err)
		}
	}
	elapsed := time.Since(begun)
	all, err := p.resident()
	if err != nil {
		return child.Sample{}, err
	}
	return child.Sample{Operations: int64(connections), Elapsed: elapsed,
		Figures: map[string]float64{"each": (all - before) / float64(connections), "all": all, "before": before}}, nil
}
