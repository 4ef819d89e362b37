// Command json reads and writes the body of updateUser, the user of the HTTP servers, with one JSON library: package ask has
// the text, package user the rules. Its rows are the libraries; its work is Decode or Encode.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/http/ask"
	"github.com/sabir-go/sabir/lab/http/user"
)

// The works.
const (
	workDecode = "decode" // read the text and validate what was read
	workEncode = "encode" // write the user
)

func main() { child.Main(start) }

func start(o child.Order) (child.Job, error) {
	l, ok := libraries()[o.Row]
	if !ok {
		return child.Job{}, fmt.Errorf("there is no library %q", o.Row)
	}
	text := []byte(ask.GoodBody)
	var want user.User
	if err := json.Unmarshal(text, &want); err != nil {
		return child.Job{}, err
	}
	switch {
	case o.Work == workDecode && l.refuses(text):
		return child.Job{Measure: func(d time.Duration) (child.Sample, error) { return child.Repeat(d, decode(l, text, want)) }}, nil
	case o.Work == workDecode:
		return child.Job{}, fmt.Errorf("%s takes a user with a negative id", o.Row)
	case o.Work == workEncode:
		return child.Job{Measure: func(d time.Duration) (child.Sample, error) { return child.Repeat(d, encode(l, text, want)) }}, nil
	}
	return child.Job{}, fmt.Errorf("the work %q is not known", o.Work)
}

// refuses says whether the library's rules are at work.
func (l library) refuses(text []byte) bool {
	return l.decode(bytes.Replace(text, []byte(`"id":1`), []byte(`"id":-1`), 1), new(user.User)) != nil
}

func decode(l library, text []byte, want user.User) func(n int) error {
	return func(n int) error {
		for range n {
			var u user.User
			if err := l.decode(text, &u); err != nil {
				return err
			}
			if u.ID != want.ID || u.Name != want.Name || u.Surname != want.Surname || !u.LastUpdate.Equal(want.LastUpdate) {
				return fmt.Errorf("%+v was read, want %+v", u, want)
			}
		}
		return nil
	}
}

func encode(l library, want []byte, u user.User) func(n int) error {
	buffer := make([]byte, 0, 1024)
	return func(n int) error {
		for range n {
			out, err := l.encode(buffer, &u)
			if err != nil {
				return err
			}
			if !bytes.Equal(bytes.TrimSuffix(out, []byte("\n")), want) {
				return fmt.Errorf("%s was written, want %s", out, want)
			}
		}
		return nil
	}
}
