package main

import (
	"bufio"
	stdjson "encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// childOf is the variable of the environment that makes this program a child: the title of a group, a slash, the name of a row.
const childOf = "SABIR_LAB_SERIALIZERS_CHILD"

// selfProgram runs a contender of Go, which is this program again: in a process of its own, as the peers are, so that its
// garbage collector has the same to do as theirs.
func selfProgram(group, row string) (program, error) {
	path, err := os.Executable()
	return program{command: []string{path}, env: childOf + "=" + group + "/" + row, warm: 100 * time.Millisecond}, err
}

// serveChild answers the tasks of a child on standard input; it returns false where this process is none.
func serveChild() (bool, error) {
	group, name, found := strings.Cut(os.Getenv(childOf), "/")
	if !found {
		return false, nil
	}
	at := slices.IndexFunc(specs, func(s spec) bool { return s.title == group })
	if at < 0 {
		return true, fmt.Errorf("no value is named %q", group)
	}
	g, err := specs[at].make(group)
	if err != nil {
		return true, err
	}
	for _, r := range g.Rows {
		if r.Name == name {
			return true, serve(r.runner, os.Stdin, os.Stdout)
		}
	}
	return true, fmt.Errorf("no contender on %s is named %q", group, name)
}

func serve(r runner, in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := perform(r, line)
		if err != nil {
			answer = reply{Error: err.Error()}
		}
		text, err := stdjson.Marshal(answer)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
}

func perform(r runner, line []byte) (answer reply, err error) {
	var t task
	if err := stdjson.Unmarshal(line, &t); err != nil {
		return reply{}, err
	}
	switch t.Do {
	case "value":
		answer.Data, err = r.encoded()
	case "answer":
		var text []byte
		text, err = r.answer(t.Data)
		answer.JSON = string(text)
	case "collect":
		err = r.collect()
		time.Sleep(2 * time.Millisecond) // see cpuTime
	case "run":
		var took time.Duration
		took, err = r.run(t.Direction, t.N)
		answer.Wall = float64(took)
		time.Sleep(2 * time.Millisecond)
	default:
		err = fmt.Errorf("no task is named %q", t.Do)
	}
	return answer, err
}
