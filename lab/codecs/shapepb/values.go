// Package shapepb has the eight values of the codec comparison as protobuf messages. A string and a map are messages of one
// field there, as protobuf has no bare ones.
package shapepb

// The generators: protoc 3.21.12, protoc-gen-go v1.36.12, protoc-gen-go-vtproto v0.6.0.
//
//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-vtproto_out=. --go-vtproto_opt=paths=source_relative,features=marshal+unmarshal+size shape.proto

import "github.com/sabir-go/sabir/lab/codecs/shape"

// The values, made from those of package shape.
func NewText() *Text           { return &Text{Value: shape.Text} }
func NewPID() *PID             { return pid(shape.NewPID()) }
func NewProcessID() *ProcessID { return processID(shape.NewProcessID()) }
func NewComplex() *Complex     { return complexOf(shape.NewComplex()) }
func NewItems() *Items         { return items(shape.NewItems()) }

func NewSimple() *Simple {
	v := shape.NewSimple()
	return &Simple{A: v.A, B: v.B, C: v.C}
}

func NewNested() *Nested {
	v := shape.NewNested()
	all := make(map[string]*Complex, len(v.ComplexMap))
	for key, value := range v.ComplexMap {
		all[key] = complexOf(value)
	}
	return &Nested{Name: v.Name, Id: v.ID, Complex: complexOf(v.Complex), ComplexMap: all, NestedMap: v.NestedMap}
}

func NewGroups() *Groups {
	all := make(map[string]*Items)
	for key, value := range shape.NewGroups() {
		all[key] = items(value)
	}
	return &Groups{Groups: all}
}

func pid(v shape.PID) *PID { return &PID{Node: v.Node, Id: v.ID, Creation: v.Creation} }

func processID(v shape.ProcessID) *ProcessID { return &ProcessID{Name: v.Name, Node: v.Node} }

func complexOf(v shape.Complex) *Complex {
	return &Complex{Name: v.Name, Id: v.ID, Tags: v.Tags, Metadata: v.Metadata, Pid: pid(v.PID), ProcessId: processID(v.ProcessID)}
}

func items(v shape.Items) *Items {
	all := make(map[string]*Item, len(v))
	for key, value := range v {
		all[key] = &Item{Name: value.Name, Id: value.ID}
	}
	return &Items{Items: all}
}
