package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/validate"
)

// usageError is a command line that cannot be meant.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// failf is an error of the command line's own.
func failf(format string, args ...any) error {
	return sabir.Errorf(sabir.CodeFailedPrecondition, "CommandFailed", format, args...)
}

// fail prints what went wrong to stderr, and returns the exit code.
func (c *cli) fail(command *cobra.Command, err error) int {
	code := exitFailed
	usage, isUsage := errors.AsType[*usageError](err)
	if isUsage {
		code = exitUsage
		err = sabir.NewError(sabir.CodeInvalidArgument, "Usage", usage.text)
	}
	e := ownError(sabir.AsError(err))
	if c.json {
		writeJSON(c.stderr, struct {
			Error *sabir.Error `json:"error"`
			Exit  int          `json:"exit"`
		}{e, code})
		return code
	}
	c.explain(e)
	if isUsage {
		fmt.Fprintln(c.stderr, "  help:", command.CommandPath(), "--help")
	}
	return code
}

// ownError gives an error without a name, which is no answer of a node, the name of the command line's own.
func ownError(e *sabir.Error) *sabir.Error {
	if e.Name != sabir.ErrHandlerFailed.Name || e.Node != "" {
		return e
	}
	c := *e
	c.Code, c.Name = sabir.CodeFailedPrecondition, "CommandFailed"
	return &c
}

// explain writes an error for users: what happened, the details, and what to do.
func (c *cli) explain(e *sabir.Error) {
	message, fields := e.Message, fieldsOf(e)
	if fields != nil {
		message, _, _ = strings.Cut(message, ": ") // the fields follow, one a line
	}
	fmt.Fprintf(c.stderr, "%s %s\n", styleOf(c.stderr).red("error:"), printable(message))
	writeFields(c.stderr, fields)
	if text := aboutError(e); text != "" {
		fmt.Fprintln(c.stderr, "  that is:", printable(text))
	}
	if data := dataOf(e, fields); data != "" {
		fmt.Fprintln(c.stderr, "  data:", printable(data))
	}
	if hint := c.hintFor(e); hint != "" {
		fmt.Fprintln(c.stderr, "  try:", hint)
	}
}

// fieldsOf is the fields that failed validation; nil for another error.
func fieldsOf(e *sabir.Error) validate.Errors {
	if !errors.Is(e, sabir.ErrValidationFailed) {
		return nil
	}
	fields, err := sabir.DataAs[validate.Errors](e)
	if err != nil {
		return nil
	}
	return fields
}

func writeFields(w io.Writer, fields validate.Errors) {
	var rows [][]string
	for _, f := range fields {
		rule := f.Rule
		if f.Param != "" {
			rule += "=" + f.Param
		}
		given, _ := json.Marshal(f.Value)
		rows = append(rows, []string{"  " + firstOf(f.Path, "(input)") + ":", f.Message, fmt.Sprintf("(rule %s, given %s)", rule, given)})
	}
	writeRows(w, rows)
}

// aboutError is the error's name and class, and where it happened.
func aboutError(e *sabir.Error) string {
	if e.Name == "CommandFailed" || e.Name == "Usage" { // an error of this program's own
		return ""
	}
	text := e.Name + " (" + e.Code.String() + ")"
	if e.Node != "" {
		text += " on node " + e.Node
	}
	if e.Retryable {
		text += "; the same call may succeed later"
	}
	return text
}

// dataOf is the error's data as JSON, where nothing else shows it.
func dataOf(e *sabir.Error, fields validate.Errors) string {
	if e.Data == nil || fields != nil || errors.Is(e, sabir.ErrActionNotFound) {
		return ""
	}
	data, err := json.Marshal(e.Data)
	if err != nil {
		return ""
	}
	return string(data)
}

// hintFor returns advice on an error, or "" where there is none.
func (c *cli) hintFor(e *sabir.Error) string {
	if a, ok := errors.AsType[advice](e); ok {
		return a.do
	}
	switch {
	case unreachable(e) && c.joined():
		return `"sabir nodes" lists the nodes that are there, "sabir actions" what they offer`
	case unreachable(e):
		return `start one with "sabir demo", or give another address with --url or SABIR_URL; the address of links, such as tcp://:7700, goes with --join`
	case errors.Is(e, sabir.ErrActionNotFound) && c.joined():
		return `"sabir actions" lists what the nodes of the cluster offer`
	case errors.Is(e, sabir.ErrActionNotFound):
		return `"sabir actions" lists what the node offers`
	case e.Code == sabir.CodeUnauthenticated && c.joined():
		return "over links the command line calls as nobody: call over HTTP, with --url, and give your token in the environment variable SABIR_HTTP_KEY"
	case e.Code == sabir.CodeUnauthenticated:
		return "give the node's key, or your token where it wants tokens, in the environment variable SABIR_HTTP_KEY; or ask through the cluster, with --join, as nobody. sabir gen takes other credentials with --header"
	case errors.Is(e, sabir.ErrBadInput):
		return `name=text is always a text, name:=JSON a number, true, a list or an object: "sabir actions" has the types that actions take`
	case errors.Is(e, sabir.ErrLinkLost) && !e.Retryable:
		return "see whether it was done before you call again: the node may have done it"
	case errors.Is(e, sabir.ErrDeadlineExceeded):
		return "allow more time with --timeout"
	}
	return ""
}

// unreachable reports whether the call found no node. What a node answers has its name in it.
func unreachable(e *sabir.Error) bool {
	return errors.Is(e, sabir.ErrServiceUnavailable) && e.Node == ""
}
