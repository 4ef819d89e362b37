package sabir

import (
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/schema"
	"github.com/sabir-go/sabir/schema/route"
)

// DescribeRequest is the input of $node.api.
type DescribeRequest struct {
	Action string `json:"action" validate:"required"` // full name, of an action of the node that is asked
}

// ActionDescription is what a node says of one of its actions to whoever makes documents, forms or clients from it.
type ActionDescription struct {
	schema.Described
	Routes     []route.Route       `json:"routes,omitempty"`
	Errors     []DescribedError    `json:"errors,omitempty"` // declared
	Examples   []DescribedExample  `json:"examples,omitempty"`
	Deprecated string              `json:"deprecated,omitempty"`
	CacheFor   float64             `json:"cacheFor,omitempty"` // seconds that answers are kept; 0 for not
	Notes      map[string][]string `json:"notes,omitempty"`    // the facts noted about it that are lists of words, such as roles, under the text of their keys
}

// DescribedError is an error that an action may end with.
type DescribedError struct {
	Code    Code   `json:"code"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Data    int    `json:"data"` // the place of the schema of its data in More, counted from 1; 0 for no data
}

// DescribedExample is an example as JSON.
type DescribedExample struct {
	In  stdjson.RawMessage `json:"in,omitempty"`
	Out stdjson.RawMessage `json:"out,omitempty"`
}

// describeAction answers $node.api.
func (n *Node) describeAction(name string) (d ActionDescription, err error) {
	e := n.table.Load().here[name]
	if e == nil || e.info().Visibility == Private {
		return d, n.notFoundAmong("action on node "+n.id, name, n.namesForOthers())
	}
	a := e.info()
	d.Routes, d.Deprecated = a.Routes, a.Deprecated
	var data []reflect.Type
	for _, declared := range a.Errors {
		one := DescribedError{Code: declared.Code, Name: declared.Name, Message: declared.Message}
		if declared.Data != nil {
			data = append(data, reflect.TypeOf(declared.Data))
			one.Data = len(data)
		}
		d.Errors = append(d.Errors, one)
	}
	if d.Described, err = schema.Describe(a.In, a.Out, data...); err != nil {
		return d, Errorf(FailedPrecondition, "NoDescription", "the types of %s cannot be described: %w", name, err)
	}
	for _, example := range a.Examples {
		in, errIn := json.Append(nil, example.In)
		out, errOut := json.Append(nil, example.Out)
		if errIn == nil && errOut == nil {
			d.Examples = append(d.Examples, DescribedExample{in, out})
		}
	}
	if keep, ok := a.Noted(CacheNote).(time.Duration); ok {
		d.CacheFor = keep.Seconds()
	}
	for key, fact := range a.notes {
		if words, ok := fact.([]string); ok {
			if d.Notes == nil {
				d.Notes = make(map[string][]string)
			}
			d.Notes[fmt.Sprint(key)] = words
		}
	}
	return d, nil
}
