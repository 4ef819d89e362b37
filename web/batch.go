package web

import (
	stdjson "encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/web/exchange"
)

// The bounds of a batch.
const (
	maxBatch   = 100 // calls
	batchWidth = 16  // of them at once
)

// batchPath is where a door takes batches.
const batchPath = "/batch"

// batchCall is one call of a batch.
type batchCall struct {
	Action string             `json:"action"`
	Input  stdjson.RawMessage `json:"input"`
}

// batchAnswer is what became of it: Output where Status is 200, else Problem.
type batchAnswer struct {
	Status  int                `json:"status"`
	Output  stdjson.RawMessage `json:"output,omitempty"`
	Problem stdjson.RawMessage `json:"problem,omitempty"`
}

// batch makes several calls in one request. Each passes the steps that it would pass alone, with the headers of the batch,
// so a batch can do nothing that single calls could not.
func (v *visit) batch() {
	var calls []batchCall
	err := checkJSON(v.Exchange)
	if err == nil {
		if bad := json.Decode(v.Body, &calls); bad != nil {
			err = sabir.Errorf(sabir.InvalidArgument, sabir.ErrBadInput.Name, `the batch cannot be read: %w; want [{"action":"users.get","input":{…}},…]`, bad)
		} else if len(calls) > maxBatch {
			err = sabir.NewError(sabir.InvalidArgument, sabir.ErrTooLarge.Name, fmt.Sprintf("the batch has %d calls; %d is the limit", len(calls), maxBatch))
		}
	}
	if err != nil {
		v.fail(err)
		return
	}
	answers := make([]batchAnswer, len(calls))
	var running sync.WaitGroup
	slots := make(chan struct{}, batchWidth)
	for i := range calls {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			answers[i] = v.one(calls[i], i)
		})
	}
	running.Wait()
	body, err := json.Append(v.Out[:0], answers)
	if err != nil {
		v.fail(sabir.NewError(sabir.Internal, sabir.ErrBadOutput.Name, internalMessage(v.ID)))
		return
	}
	v.Status, v.Type, v.Out = http.StatusOK, jsonType, body
}

// one makes one call of a batch.
func (v *visit) one(c batchCall, i int) (answer batchAnswer) {
	path := v.to.door.prefix + actionPath(c.Action)
	x := &exchange.Exchange{Context: v.Context, Method: http.MethodPost, Path: path, Host: v.Host, Body: c.Input,
		Remote: v.Remote, TLS: v.TLS, HTTP2: v.HTTP2, ID: v.ID + "-" + itoa(i+1), Limit: v.Limit}
	for _, f := range v.Header.Fields() {
		if !ofBatchOnly(f.Name) {
			x.Header.Add(f.Name, f.Value)
		}
	}
	defer func() { // this goroutine's panic would be the process's end
		if p := recover(); p != nil {
			sub := visit{Exchange: x, face: v.face}
			sub.fail(&sabir.Error{Code: sabir.Internal, Name: sabir.ErrPanic.Name, Message: internalMessage(x.ID)})
			answer = batchAnswer{Status: x.Status, Problem: x.Out}
		}
	}()
	to := v.tables.get().calls[path]
	switch {
	case to == nil || to.action == nil || strings.Contains(c.Action, "/"): // a batch is no action
		sub := visit{Exchange: x, face: v.face}
		sub.fail(v.notFound(path))
	case to.action.Stream:
		sub := visit{Exchange: x, face: v.face}
		sub.fail(&sabir.Error{Code: sabir.Unimplemented, Name: sabir.ErrStreamWanted.Name, Message: c.Action + " is a stream, which no batch can hold"})
	default:
		v.answer(x, to, false)
	}
	if x.Status == 0 || x.Status == http.StatusOK {
		return batchAnswer{Status: http.StatusOK, Output: x.Out}
	}
	return batchAnswer{Status: x.Status, Problem: x.Out}
}

// ofBatchOnly tells whether a header is about the batch and its answer, and not about its calls.
func ofBatchOnly(name string) bool {
	for _, own := range []string{"Accept-Encoding", "If-None-Match", "Content-Length", "Connection"} {
		if strings.EqualFold(name, own) {
			return true
		}
	}
	return false
}
