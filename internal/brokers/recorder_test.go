package brokers_test

import (
	"fmt"
	"runtime"
	"testing"
)

// recorder is a test that keeps how it ended.
type recorder struct {
	testing.TB
	how, text string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(arguments ...any) {
	r.how, r.text = "skipped", fmt.Sprint(arguments...)
	runtime.Goexit()
}

func (r *recorder) Fatal(arguments ...any) {
	r.how, r.text = "failed", fmt.Sprint(arguments...)
	runtime.Goexit()
}
