package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
)

// dial makes a client for the node; the caller closes it. It does not connect.
func (c *cli) dial() (*web.Client, error) {
	var options []web.Option
	if key := c.secret(); key != "" {
		options = append(options, web.Key(key))
	}
	client, err := web.Dial(c.address(), options...)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return client, nil
}

// ask calls an action of the node once and returns its JSON.
func (c *cli) ask(ctx context.Context, action string, body []byte) ([]byte, error) {
	client, err := c.dial()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	answer, err := client.Call(ctx, action, body)
	return answer, named(err, action)
}

// named says of an unknown action what it is called, and what else may be meant, rather than where it would be over HTTP.
func named(err error, action string) error {
	e, ok := errors.AsType[*sabir.Error](err)
	if !ok || !errors.Is(e, sabir.ErrActionNotFound) {
		return err
	}
	c := *e
	c.Message = "the node offers no action " + action
	type suggestions struct {
		Nearest []string `json:"nearest"`
	}
	if data, err := sabir.DataAs[suggestions](e); err == nil && len(data.Nearest) > 0 {
		c.Message += "; did you mean " + strings.Join(data.Nearest, ", ") + "?"
	}
	return &c
}

// askFor is ask for an answer of a known type.
func askFor[Out any](ctx context.Context, c *cli, action string) (out Out, err error) {
	answer, err := c.ask(ctx, action, nil)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return out, sabir.Errorf(sabir.Internal, "BadOutput", "the answer of %s from %s cannot be read; does the node run another version of Sabir? %w", action, c.address(), err)
	}
	return out, nil
}

// show writes a list: as JSON, never null, or as a table with a line where it is empty.
func show[T any](c *cli, list []T, header []string, row func(T) []string, none string) {
	if c.json {
		if list == nil {
			list = []T{}
		}
		writeJSON(c.stdout, list)
		return
	}
	if len(list) == 0 {
		fmt.Fprintln(c.stdout, none)
		return
	}
	var rows [][]string
	for _, one := range list {
		rows = append(rows, row(one))
	}
	c.writeTable(header, rows)
}
