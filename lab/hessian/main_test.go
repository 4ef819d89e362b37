package main

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

var rows = []string{"sabir hessian", "sabir hessian, struct", "sabir json", "sabir json, struct", "dubbo-go-hessian2", "encoding/json", memoryCopy}

func TestEachContenderWritesAndReadsTheObject(t *testing.T) {
	for _, row := range rows {
		for _, work := range []string{"encode", "decode"} {
			job, err := start(child.Order{Row: row, Work: work})
			if err != nil {
				t.Error(err)
				continue
			}
			s, err := job.Measure(time.Millisecond)
			if err != nil || s.Operations == 0 || s.Wrong > 0 || s.Figures["bytes"] < 100 {
				t.Errorf("%s, %s: %+v, %v", row, work, s, err)
			}
		}
	}
}

func TestHessianContendersReadEachOther(t *testing.T) {
	all := []string{"sabir hessian", "sabir hessian, struct", "dubbo-go-hessian2"}
	want := []byte(`{"string":"hello world","number":1024.1,"boolean":true,"array":["hello",1024.12,true,{"foo":"bar"},[1,2,3]],` +
		`"obj":{"string":"hello","boolean":true,"array":["hello","world"],"number":1024.123,"obj":{"foo":"bar"}}}`)
	for _, from := range []string{"sabir hessian", "dubbo-go-hessian2"} {
		writer, err := contenderOf(from)
		if err != nil {
			t.Fatal(err)
		}
		data, err := writer.encode(nil, writer.value)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range all {
			reader, err := contenderOf(to)
			if err != nil {
				t.Fatal(err)
			}
			got, err := reader.decode(append([]byte(nil), data...))
			if err == nil {
				err = sameJSON(want, got)
			}
			if err != nil {
				t.Errorf("%s from %s: %v", to, from, err)
			}
		}
	}
}

func TestOrdersThatCannotBeDoneSayWhy(t *testing.T) {
	for _, o := range []child.Order{{Row: "else", Work: "encode"}, {Row: "sabir json", Work: "else"}} {
		if _, err := start(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
