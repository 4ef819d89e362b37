// Program serializers encodes and decodes Moleculer's packets of seven sizes with one of Sabir's codecs. The lab starts it; package
// seeds/moleculer has the table.
package main

import (
	"fmt"
	"strings"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/serializers/documents"
)

func main() { child.Main(start) }

func start(o child.Order) (child.Job, error) {
	j := &job{row: o.Row}
	if _, err := contenderOf(o.Row, documents.Sizes[0]); err != nil {
		return child.Job{}, err
	}
	return child.Job{Measure: j.measure, Answer: j.answer}, nil
}

// The directions, as the words have them.
const (
	serialize   = "serialize"
	deserialize = "deserialize"
)

// contenderOf is a contender with the packet around the document of a size.
func contenderOf(row, size string) (contender, error) {
	document, err := documents.Of(size)
	if err != nil {
		return contender{}, err
	}
	var all map[string]contender
	switch document := document.(type) {
	case documents.Number:
		all, err = contenders(document)
	case documents.Request:
		all, err = contenders(document)
	case documents.Page:
		all, err = contenders(document)
	}
	if err != nil {
		return contender{}, err
	}
	c, known := all[row]
	if !known {
		return contender{}, fmt.Errorf("there is no %q", row)
	}
	return c, nil
}

// useOf takes the word "use DIRECTION SIZE" apart.
func useOf(word string) (direction, size string, err error) {
	direction, size, _ = strings.Cut(strings.TrimPrefix(word, "use "), " ")
	if !strings.HasPrefix(word, "use ") || direction != serialize && direction != deserialize {
		return "", "", fmt.Errorf("want \"use serialize SIZE\" or \"use deserialize SIZE\", got %q", word)
	}
	return direction, size, nil
}
