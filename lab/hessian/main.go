// Command hessian writes and reads the complex object of node-hsf's benchmark with one codec, over and over, as the lab orders
// it: the order's Row is the codec, its Work "encode" or "decode", or "copy" for the row "memory copy".
package main

import (
	stdjson "encoding/json"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/lab/child"
)

func main() { child.Main(start) }

// memoryCopy is the limit: as many bytes as the object has in Hessian, copied.
const memoryCopy = "memory copy"

func start(o child.Order) (child.Job, error) {
	size, do, err := operation(o.Row, o.Work)
	if err != nil {
		return child.Job{}, fmt.Errorf("%s, %s: %w", o.Row, o.Work, err)
	}
	return child.Job{Measure: func(d time.Duration) (child.Sample, error) {
		s, err := child.Repeat(d, do)
		s.Figures = map[string]float64{"bytes": float64(size)}
		return s, err
	}}, nil
}

// operation does its work n times and then looks at the last result; size is that of the object.
func operation(row, work string) (size int, do func(n int) error, err error) {
	if row == memoryCopy {
		data, err := hessian.Codec.Append(nil, complexObject())
		if err != nil {
			return 0, nil, err
		}
		buffer := make([]byte, 0, len(data))
		return len(data), func(n int) error {
			for range n {
				buffer = append(buffer[:0], data...)
			}
			if string(buffer) != string(data) {
				return fmt.Errorf("the copy is another")
			}
			return nil
		}, nil
	}
	c, err := contenderOf(row)
	if err != nil {
		return 0, nil, err
	}
	want, err := stdjson.Marshal(complexObject())
	if err != nil {
		return 0, nil, err
	}
	first, err := c.encode(nil, c.value)
	if err != nil {
		return 0, nil, err
	}
	data := append([]byte(nil), first...) // some encode into a buffer that they use again
	check := func(data []byte) error {
		v, err := c.decode(data)
		if err != nil {
			return err
		}
		return sameJSON(want, v)
	}
	if err := check(data); err != nil {
		return 0, nil, err
	}
	switch work {
	case "encode":
		buffer := make([]byte, 0, 4096)
		return len(data), func(n int) error {
			var last []byte
			for range n {
				if last, err = c.encode(buffer, c.value); err != nil {
					return err
				}
			}
			if len(last) != len(data) { // maps may come in another order
				return fmt.Errorf("%d bytes, and %d before", len(last), len(data))
			}
			return nil
		}, nil
	case "decode":
		return len(data), func(n int) error {
			for range n {
				if _, err := c.decode(data); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
	return 0, nil, fmt.Errorf("no such work")
}
