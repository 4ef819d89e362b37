package web

import (
	stdjson "encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/isolate"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/web/exchange"
)

// The bounds of a batch.
const (
	maxBatch   = 100 // calls
	batchWidth = 16  // of them at once
)

// batchPath is the path of batches, below the prefix of a group.
const batchPath = "/batch"

// batchCall is one call of a batch.
type batchCall struct {
	Action string             `json:"action"`
	Input  stdjson.RawMessage `json:"input"`
}

// batchResult is the result of one call: Output if Status is a success, otherwise Problem.
type batchResult struct {
	Status  int                `json:"status"`
	Output  stdjson.RawMessage `json:"output,omitempty"`
	Problem stdjson.RawMessage `json:"problem,omitempty"`
	// Headers holds the headers of the call's answer that the answer of the batch lacks. Cookies are not among them: they
	// are in the answer of the batch, where clients look for them.
	Headers map[string][]string `json:"headers,omitempty"`

	held           int      // bytes that are counted for it
	reached        bool     // the filters have let the call pass
	cookies        []string // set by the call itself
	sessionCookies []string // set by the filters before the call, such as those that prolong or end a session
}

// batch makes several calls in one request. Each passes the filters that it would pass alone, with the headers of the batch, so
// a batch can do nothing that single calls could not.
func (rc *requestContext) batch() {
	var calls []batchCall
	err := checkJSON(rc.Exchange)
	if err == nil {
		if bad := json.Codec.Decode(rc.Body, &calls); bad != nil {
			err = sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, `the batch cannot be read: %w; want [{"action":"users.get","input":{…}},…]`, bad)
		} else if len(calls) > maxBatch {
			err = sabir.NewError(sabir.CodeInvalidArgument, errname.InputTooLarge, fmt.Sprintf("the batch has %d calls; %d is the limit", len(calls), maxBatch))
		}
	}
	if err != nil {
		rc.fail(err)
		return
	}
	limit, err := timeout(&rc.Header, rc.to.limit)
	if err != nil {
		rc.fail(err)
		return
	}
	end := time.Now().Add(limit) // of all calls: the time in which they wait for each other counts
	answers := make([]batchResult, len(calls))
	var running sync.WaitGroup
	slots := make(chan struct{}, batchWidth)
	account := rc.memory.Queue() // of the answers
	defer func() {
		for i := range answers {
			account.Give(answers[i].held)
		}
	}()
	for i := range calls {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			rc.callOne(calls[i], i, end, &answers[i], account)
		})
	}
	running.Wait()
	rc.mergeCookies(answers)
	body, err := json.Codec.Append(rc.Out[:0], answers)
	if err != nil {
		rc.fail(sabir.NewError(sabir.CodeInternal, errname.BadOutput, internalMessage(rc.ID)))
		return
	}
	rc.Status, rc.Type, rc.Out = http.StatusOK, jsonType, body
}

// callOne makes one call of a batch.
func (rc *requestContext) callOne(c batchCall, i int, end time.Time, answer *batchResult, account *memory.Account) {
	path := rc.to.routeGroup.prefix + actionPath(c.Action)
	x := &exchange.Exchange{Context: rc.Context, Method: http.MethodPost, Path: path, Host: rc.Host, Body: c.Input,
		Remote: rc.Remote, TLS: rc.TLS, HTTP2: rc.HTTP2, ID: rc.ID + "-" + itoa(i+1), Limit: rc.Limit}
	for _, f := range rc.Header.Fields() {
		if !ofBatchOnly(f.Name) {
			x.Header.Add(f.Name, f.Value)
		}
	}
	sub := requestContext{Exchange: x, server: rc.server}
	defer func() { // the answer is there also where what was called ended the goroutine, whose panic would be the process's end
		if p := recover(); p != nil {
			sub.fail(isolate.Fault(p))
		}
		rc.addResult(answer, x, c.Action)
		answer.held = cap(x.Out)
		account.Hold(answer.held)
	}()
	to := rc.tables.get().calls[path]
	switch {
	case to == nil || to.action == nil || strings.Contains(c.Action, "/"): // a batch is no action
		sub.fail(rc.notFound(path))
	case to.action.Stream:
		sub.fail(&sabir.Error{Code: sabir.CodeInvalidArgument, Name: errname.StreamWanted, Message: c.Action + " is a stream, which no batch can hold"})
	case account.Space() <= 0: // before the call, as nothing of what it does could be taken back
		sub.fail(rc.holdsTooMuch())
	case time.Until(end) <= 0:
		sub.fail(sabir.NewError(sabir.CodeDeadlineExceeded, sabir.ErrDeadlineExceeded.Name, "the deadline of the batch passed before "+c.Action+" was called"))
	default:
		counted := *to
		counted.limit = min(to.limit, time.Until(end))
		counted.chain = append(slices.Clip(to.chain), exchange.Filter{Name: "batch", Before: func(x *exchange.Exchange) error {
			answer.reached, answer.sessionCookies = true, slices.Collect(x.Answer.All("Set-Cookie"))
			return nil
		}})
		rc.handle(x, &counted, false)
	}
}

// addResult adds the response of a call to the batch.
func (rc *requestContext) addResult(answer *batchResult, x *exchange.Exchange, action string) {
	if len(x.Out) > 0 && !jsontext.Value(x.Out).IsValid() {
		sub := requestContext{Exchange: x, server: rc.server}
		sub.fail(sabir.NewError(sabir.CodeInternal, errname.BadOutput,
			fmt.Sprintf("the answer of %s has the status %d and is %.100q, which no batch can hold: call it alone", action, x.Status, x.Type)))
	}
	if answer.Status = x.Status; x.Status == 0 {
		answer.Status = http.StatusOK
	}
	if answer.Status < 400 && x.Type != problemType {
		answer.Output = x.Out
	} else {
		answer.Problem = x.Out
	}
	for _, f := range x.Answer.Fields() {
		switch {
		case !strings.EqualFold(f.Name, "Set-Cookie"):
			if !slices.Contains(slices.Collect(rc.Answer.All(f.Name)), f.Value) {
				if answer.Headers == nil {
					answer.Headers = make(map[string][]string)
				}
				name := http.CanonicalHeaderKey(f.Name)
				answer.Headers[name] = append(answer.Headers[name], f.Value)
			}
		case answer.reached && !slices.Contains(answer.sessionCookies, f.Value):
			answer.cookies = append(answer.cookies, f.Value)
		case !answer.reached:
			answer.sessionCookies = append(answer.sessionCookies, f.Value)
		}
	}
}

// maxBatchCookies bounds the bytes of the cookies that a batch sets: clients and proxies take no more than some 16 KiB of
// headers.
const maxBatchCookies = 8 << 10

// mergeCookies sets the cookies of the calls in the response of the batch, in the order of the calls: if several set one
// cookie, the last one counts, as if the calls had been made one after the other. Cookies that prolong a session count less
// than those of the calls, so that a sign-out wins wherever it stands in the batch. A call whose cookies do not fit has failed.
func (rc *requestContext) mergeCookies(answers []batchResult) {
	set := &cookieSet{}
	for line := range rc.Answer.All("Set-Cookie") {
		set.put(line)
	}
	for i := range answers {
		for _, line := range answers[i].sessionCookies {
			set.put(line)
		}
	}
	for i := range answers {
		for _, line := range answers[i].cookies {
			if !set.put(line) {
				rc.cookiesTooLarge(&answers[i], i)
				break
			}
		}
	}
	rc.Answer.Delete("Set-Cookie")
	for _, line := range set.lines {
		rc.Answer.Add("Set-Cookie", line)
	}
}

func (rc *requestContext) cookiesTooLarge(answer *batchResult, i int) {
	x := &exchange.Exchange{ID: rc.ID + "-" + itoa(i+1)}
	sub := requestContext{Exchange: x, server: rc.server}
	sub.fail(sabir.NewError(sabir.CodeInternal, errname.BadOutput,
		fmt.Sprintf("the calls of the batch set more than %d bytes of cookies, and those of this one are not set: make it alone", maxBatchCookies)))
	answer.Status, answer.Output, answer.Problem = x.Status, nil, x.Out
}

// cookieSet collects Set-Cookie lines, one for each cookie.
type cookieSet struct {
	lines []string
	size  int
}

// put adds a line in place of one for the same cookie, which is one of the same name, domain and path (RFC 6265, section 5.3).
// It returns false where there is no space.
func (s *cookieSet) put(line string) bool {
	same := slices.IndexFunc(s.lines, func(old string) bool { return cookieOf(old) == cookieOf(line) })
	size := s.size + len(line)
	if same >= 0 {
		size -= len(s.lines[same])
	}
	if size > maxBatchCookies {
		return false
	}
	if s.size = size; same >= 0 {
		s.lines = slices.Delete(s.lines, same, same+1)
	}
	s.lines = append(s.lines, line)
	return true
}

// cookieOf returns the identity of a cookie: its name, domain and path.
func cookieOf(line string) [3]string {
	c, err := http.ParseSetCookie(line)
	if err != nil {
		return [3]string{line}
	}
	return [3]string{c.Name, strings.ToLower(c.Domain), c.Path}
}

// ofBatchOnly reports whether a header concerns the batch as a whole and not its calls.
func ofBatchOnly(name string) bool {
	for _, own := range []string{"Accept-Encoding", "If-Match", "If-None-Match", "Content-Length", "Connection"} {
		if strings.EqualFold(name, own) {
			return true
		}
	}
	return false
}
