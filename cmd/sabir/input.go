package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// maxInput bounds the input from a file or from stdin: 64 MiB.
const maxInput = 64 << 20

// inputHelp is the help text of commands for the forms of input that readInput takes.
const inputHelp = `The input is one of:
  name=text name:=JSON …   fields; text is a string, JSON a number, true, a list …
  '{"name": "text"}'       a JSON document
  @file                    a file with one
  -                        the same from stdin
Without any it is {}.`

// field is "name=text" or "name:=JSON".
var field = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)(:?=)`)

// readInput makes the JSON document that the arguments stand for.
func (c *cli) readInput(ctx context.Context, args []string) ([]byte, error) {
	if len(args) == 0 {
		return []byte("{}"), nil
	}
	if field.MatchString(args[0]) {
		return fieldsInput(args)
	}
	if len(args) > 1 {
		return nil, usagef("%q is no field: want name=text or name:=JSON, or one JSON document in quotes", args[firstOdd(args)])
	}
	text, err := c.document(ctx, args[0])
	if err != nil {
		return nil, err
	}
	if err := checkJSON(text); err != nil {
		return nil, usagef("the input is not JSON: %v", err)
	}
	return text, nil
}

// document is the text of a JSON document: given, from a file, or from stdin.
func (c *cli) document(ctx context.Context, arg string) ([]byte, error) {
	if arg == "-" {
		return readBounded(untilDone(ctx, c.stdin), "stdin")
	}
	name, isFile := strings.CutPrefix(arg, "@")
	if !isFile {
		return []byte(arg), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, usagef("the input cannot be read: %v", err)
	}
	defer f.Close()
	return readBounded(f, name)
}

// untilDone reads until the context is done. A terminal or a pipe may have nothing for ever, and reading it ends by no signal.
func untilDone(ctx context.Context, from io.Reader) io.Reader {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, from)
		w.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	return r
}

func readBounded(r io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	if err != nil {
		return nil, usagef("the input cannot be read: %v", err)
	}
	if len(text) > maxInput {
		return nil, usagef("the input in %s is larger than %d MiB", name, maxInput>>20)
	}
	return text, nil
}

// checkJSON reports what is wrong with a JSON document, and where.
func checkJSON(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return errors.New("it is empty")
	}
	var any json.RawMessage
	err := json.Unmarshal(text, &any)
	if at, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%w (at byte %d)", err, at.Offset)
	}
	return err
}

// fieldsInput makes an object of fields, in the order given.
func fieldsInput(args []string) ([]byte, error) {
	var object bytes.Buffer
	seen := make(map[string]bool)
	for i, arg := range args {
		parts := field.FindStringSubmatch(arg)
		if parts == nil {
			return nil, usagef("%q is no field: want name=text or name:=JSON", arg)
		}
		name, value := parts[1], []byte(arg[len(parts[0]):])
		if seen[name] {
			return nil, usagef("the field %s is given twice", name)
		}
		seen[name] = true
		if parts[2] == "=" {
			value, _ = json.Marshal(string(value)) // a string always has a JSON form
		} else if err := checkJSON(value); err != nil {
			return nil, usagef("the field %s is not JSON: %v; for a string write %s=…", name, err, name)
		}
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		object.WriteByte(separator)
		fmt.Fprintf(&object, "%q:%s", name, value)
	}
	object.WriteByte('}')
	return object.Bytes(), nil
}

// firstOdd is the first argument that is no field.
func firstOdd(args []string) int {
	for i, arg := range args {
		if !field.MatchString(arg) {
			return i
		}
	}
	return 0
}
