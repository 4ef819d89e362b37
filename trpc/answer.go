package trpc

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/subrequest"
)

// answer keeps what came of one call.
type answer struct {
	status int
	text   []byte // as the client reads it
	header http.Header
}

func (c *call) failed(s *shape) answer {
	return answer{status: s.Data.HTTPStatus, text: s.at(c.path).append(nil, c.superjson)}
}

// make makes one call, for the client whose request is r.
func (s *server) make(ctx context.Context, r *http.Request, c *call, batch bool) answer {
	if why := c.allowed(r.Method, batch); why != nil {
		return c.failed(why)
	}
	request, done := subrequest.New(ctx, r, http.MethodPost, c.action.Path, c.input)
	defer done()
	request.Header.Set("Accept", "application/json")
	a := subrequest.Do(s.site.Handler, request, nil)
	if p := a.Problem(); p != nil {
		one := c.failed(shapeOf(p))
		one.header = a.Header()
		return one
	}
	if len(a.Body) > 0 && !json.Valid(a.Body) {
		return c.failed(failure(http.StatusInternalServerError, "BadOutput", c.action.Name+" has answered something that is not JSON"))
	}
	one := answer{status: http.StatusOK, header: a.Header()}
	one.text = append(one.text, `{"result":{`...)
	switch there := c.action.Out != nil && len(a.Body) > 0; {
	case there && c.superjson:
		one.text = appendSuperjson(append(one.text, `"data":`...), a.Body)
	case there:
		one.text = append(append(one.text, `"data":`...), a.Body...)
	case c.superjson:
		one.text = append(one.text, `"data":{"json":null,"meta":{"values":["undefined"]}}`...)
	}
	one.text = append(one.text, "}}"...)
	return one
}

// single answers a request of one call. Its headers are those of the action's own answer, except for those about its body.
func (s *server) single(w http.ResponseWriter, r *http.Request, c call) {
	a := s.make(r.Context(), r, &c, false)
	header := w.Header()
	for name, values := range a.header {
		switch name {
		case "Content-Type", "Content-Length", "Content-Encoding", "Etag", "Last-Modified", "Cache-Control", "Vary", "Accept-Ranges":
			continue
		}
		header[name] = values
	}
	if a.status == http.StatusMethodNotAllowed {
		header.Set("Allow", http.MethodPost)
	}
	respond(w, a.status, a.text)
}

// batch answers a request of several calls with the list of their answers, in their order.
func (s *server) batch(w http.ResponseWriter, r *http.Request, c *calls) {
	account := memory.OfNode(s.site.Node).Queue() // of the answers, which all wait for the last one
	answers := make([]answer, len(c.list))
	s.makeAll(r.Context(), r, c, account, func(i int, a answer) { answers[i] = a })
	status, text := 0, []byte("[")
	for i := range answers {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, answers[i].text...)
		defer account.Give(cap(answers[i].text))
		if status != 0 && status != answers[i].status {
			status = http.StatusMultiStatus
		} else {
			status = answers[i].status
		}
		for _, cookie := range answers[i].header.Values("Set-Cookie") {
			if len(w.Header()["Set-Cookie"]) < maxCookies {
				w.Header().Add("Set-Cookie", cookie)
			}
		}
	}
	respond(w, status, append(text, ']'))
}

// maxCookies bounds the cookies that a batch sets.
const maxCookies = 20

// makeAll makes the calls, some at once. done is called with each answer, by several goroutines at once.
func (s *server) makeAll(ctx context.Context, r *http.Request, c *calls, account *memory.Account, done func(int, answer)) {
	var running sync.WaitGroup
	slots := make(chan struct{}, batchWidth)
	for i := range c.list {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			one := &c.list[i]
			if account.Space() <= 0 { // before the call, as nothing of what it does could be taken back
				done(i, one.failed(failure(http.StatusServiceUnavailable, "MessageTooLarge", "the answers of the batch are too large: make the call alone")))
				return
			}
			a := s.make(ctx, r, one, true)
			account.Hold(cap(a.text))
			done(i, a)
		})
	}
	running.Wait()
}

// streamBatch answers a request of several calls with a line of JSON for each, as soon as it is there. The first line announces a value for
// each call, and each further one has the number of its call.
func (s *server) streamBatch(w http.ResponseWriter, r *http.Request, c *calls) {
	ctx, gone := context.WithCancel(r.Context())
	defer gone()
	w.Header().Set("Content-Type", "application/json")
	out := &lines{w: w, control: http.NewResponseController(w), gone: gone}
	head := []byte("{")
	for i := range c.list {
		if i > 0 {
			head = append(head, ',')
		}
		number := strconv.Itoa(i)
		head = slices.Concat(head, []byte(`"`+number+`":[[0],[null,0,`+number+`]]`))
	}
	head = append(head, '}')
	if c.superjson {
		head = appendSuperjson(nil, head)
	}
	out.write(append(head, '\n'))
	account := memory.OfNode(s.site.Node).Queue()
	s.makeAll(ctx, r, c, account, func(i int, a answer) {
		defer account.Give(cap(a.text))
		before, after := "", "\n"
		if c.superjson {
			before, after = `{"json":`, "}\n"
		}
		out.write(slices.Concat([]byte(before+"["+strconv.Itoa(i)+",0,[["), a.text, []byte("]]]"+after)))
	})
}

func respond(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the client has gone
}
