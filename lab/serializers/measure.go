package main

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// job is a contender at work on one packet in one direction.
type job struct {
	row       string
	direction string
	contender contender
	data      []byte // the packet, encoded
	buffer    []byte
	last      []byte  // what was encoded last
	found     decoded // what was decoded last
}

// answer takes the word "use DIRECTION SIZE": what is measured from now on.
func (j *job) answer(word string) (any, error) {
	direction, size, err := useOf(word)
	if err != nil {
		return nil, err
	}
	next := job{row: j.row, direction: direction}
	if next.contender, err = contenderOf(j.row, size); err != nil {
		return nil, err
	}
	data, err := next.contender.encode(nil)
	if err != nil {
		return nil, err
	}
	next.data = append([]byte(nil), data...)
	next.buffer = make([]byte, 0, len(data)+1024)
	*j = next
	runtime.GC() // what went before is not the next measurement's to collect
	return len(data), nil
}

// measure looks at each packet's length or at its own fields, and at the whole last one.
func (j *job) measure(d time.Duration) (child.Sample, error) {
	var do func(n int) error
	switch j.direction {
	case serialize:
		do = j.serialize
	case deserialize:
		do = j.deserialize
	default:
		return child.Sample{}, errors.New("nothing is in use")
	}
	s, err := child.Repeat(d, do)
	if err != nil {
		return s, err
	}
	s.Figures = map[string]float64{"bytes": float64(len(j.data))}
	return s, j.check()
}

func (j *job) serialize(n int) error {
	for range n {
		data, err := j.contender.encode(j.buffer[:0])
		if err != nil {
			return err
		}
		if len(data) != len(j.data) {
			return fmt.Errorf("a packet of %d bytes, want %d", len(data), len(j.data))
		}
		j.last = data
	}
	return nil
}

func (j *job) deserialize(n int) error {
	for range n {
		found, err := j.contender.decode(j.data)
		if err != nil {
			return err
		}
		if err := found.problem(); err != nil {
			return err
		}
		j.found = found
	}
	return nil
}

// check compares the last packet with what it must be.
func (j *job) check() error {
	found := j.found
	j.found = nil
	if j.direction == serialize {
		var err error
		if found, err = j.contender.decode(j.last); err != nil {
			return fmt.Errorf("what was encoded cannot be decoded: %w", err)
		}
	}
	return j.contender.same(found)
}

func (c contender) same(found decoded) error {
	text, err := found.text()
	if err != nil {
		return err
	}
	var got, want any
	if err := errors.Join(stdjson.Unmarshal(text, &got), stdjson.Unmarshal(c.want, &want)); err != nil {
		return err
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("a wrong packet: %.300s", text)
	}
	return nil
}
