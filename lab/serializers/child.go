package main

import (
	"bufio"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// child is a contender in a process of its own, which measures itself. The lines that go to and fro are those of
// peers/serializers/child.js.
type child struct {
	name    string
	text    []byte        // the value as JSON
	warm    time.Duration // how long it must run before its compiler is done with it
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

type task struct {
	Do        string    `json:"do"`
	JSON      string    `json:"json,omitempty"`
	Data      []byte    `json:"data,omitempty"`
	Direction direction `json:"direction,omitempty"`
	N         int       `json:"n,omitempty"`
}

type reply struct {
	Error string  `json:"error,omitempty"`
	Data  []byte  `json:"data,omitempty"`
	JSON  string  `json:"json,omitempty"`
	Wall  float64 `json:"wall,omitempty"`
}

// start starts the program of a contender, and gives it the value.
func start(ctx context.Context, p program, name string, text []byte) (*child, error) {
	command := exec.CommandContext(ctx, p.command[0], append(p.command[1:len(p.command):len(p.command)], name)...)
	command.Dir, command.Stderr = p.dir, os.Stderr
	if p.env != "" {
		command.Env = append(os.Environ(), p.env)
	}
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &child{name: name, text: text, warm: p.warm, command: command, in: in, out: bufio.NewReaderSize(out, 1<<16)}, nil
}

// stop ends the process; it has nothing left to say.
func (c *child) stop() {
	c.in.Close()
	if err := c.command.Wait(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
	}
}

func (c *child) ask(t task) (reply, error) {
	line, err := stdjson.Marshal(t)
	if err != nil {
		return reply{}, err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return reply{}, fmt.Errorf("%s has stopped: %w", c.name, err)
	}
	line, err = c.out.ReadBytes('\n')
	if err != nil {
		return reply{}, fmt.Errorf("%s has stopped: %w", c.name, err)
	}
	var r reply
	if err := stdjson.Unmarshal(line, &r); err != nil {
		return reply{}, fmt.Errorf("%s said %.200q: %w", c.name, line, err)
	}
	if r.Error != "" {
		return reply{}, errors.New(r.Error)
	}
	return r, nil
}

func (c *child) encoded() ([]byte, error) {
	r, err := c.ask(task{Do: "value", JSON: string(c.text)})
	return r.Data, err
}

func (c *child) answer(data []byte) ([]byte, error) {
	r, err := c.ask(task{Do: "answer", Data: data})
	return []byte(r.JSON), err
}

func (c *child) collect() error {
	_, err := c.ask(task{Do: "collect"})
	return err
}

func (c *child) run(d direction, n int) (time.Duration, error) {
	r, err := c.ask(task{Do: "run", Direction: d, N: n})
	return time.Duration(r.Wall), err
}
