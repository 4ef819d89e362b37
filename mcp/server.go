package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir/internal/subrequest"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

// firstWithoutSessions is the revision whose requests stand alone. Revisions are dates, so they compare as texts.
const firstWithoutSessions = "2026-07-28"

const requestIDHeader = "X-Request-Id"

// sessionTimeout ends sessions in which no request comes.
const sessionTimeout = time.Hour

// lookEvery is the time after which the tools are made again without a change: nodes that could not describe their actions before may
// do so then. The description of all actions is kept meanwhile, so that it costs little.
const lookEvery = 10 * time.Second

// server is the endpoint: a handler that package web mounts. The SDK has one handler for the revisions with sessions and one for those
// without, and neither can do what the other does, so each request goes to the one that its revision needs. Both share one SDK server,
// and with it the tools.
type server struct {
	site    web.Site
	config  config
	offer   *offer
	sdk     *sdk.Server
	withID  http.Handler // for the revisions of 2024 and 2025
	without http.Handler // for 2026-07-28 and later
	known   *sessionTable
	own     *http.Request // stands for the client's request where the client does not come over HTTP; nil otherwise

	stopping atomic.Bool
	stop     context.CancelFunc // ends watch
	watching sync.WaitGroup
}

func newServer(site web.Site, c config) *server {
	s := &server{site: site, config: c}
	capabilities := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}}
	options := &sdk.ServerOptions{Instructions: c.Instructions, PageSize: c.PageSize, Capabilities: capabilities,
		// What an intermediary kept of one caller's answer, or of a list, would pass by the authentication of this server.
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }}
	if len(c.Resources) > 0 {
		capabilities.Resources = &sdk.ResourceCapabilities{ListChanged: true}
	}
	if len(c.prompts) > 0 {
		capabilities.Prompts = &sdk.PromptCapabilities{}
	}
	if len(c.Resources) > 0 || len(c.prompts) > 0 {
		options.CompletionHandler = s.complete
	}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "sabir", Title: site.API().Title, Version: site.API().Version}, options)
	s.sdk.AddReceivingMiddleware(s.catchPanics, keepLittle)
	for _, p := range c.prompts {
		s.sdk.AddPrompt(p.described, p.get)
	}
	s.known = newSessionTable(s.sdk, c.MaxSessions)
	s.offer = newOffer(s)
	s.offer.update()

	get := func(*http.Request) *sdk.Server { return s.sdk }
	know := sdkauth.RequireBearerToken(knowCaller, &sdkauth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	// Package web has checked Host and Origin for all that it mounts.
	s.withID = know(sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{SessionTimeout: sessionTimeout,
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1}))
	s.without = know(sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1}))

	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.watching.Go(func() { s.watch(ctx) })
	return s
}

// watch keeps the tools those of the actions that there are, until the node stops.
func (s *server) watch(ctx context.Context) {
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for {
		changed := s.site.Node.Changed() // before the look, so that no change is missed
		s.offer.update()
		select {
		case <-changed:
		case <-again.C:
		case <-ctx.Done():
			return
		}
		if state := s.site.Node.State(); state == "stopping" || state == "stopped" {
			return // under web.Handler nobody calls Stop
		}
	}
}

// Stop ends the streams in which clients wait for notifications, and the sessions. Calls in flight are answered first.
func (s *server) Stop(ctx context.Context) error {
	s.stopping.Store(true)
	s.stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.watching.Wait()
		var closing sync.WaitGroup
		for session := range s.sdk.Sessions() {
			closing.Go(func() { _ = session.Close() }) // an error means that the client has gone
		}
		closing.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return errors.New("sessions of MCP still have calls that run")
	}
}

// Challenge names, in the answer to a client without a token, where it finds out who gives it one.
func (s *server) Challenge(*http.Request) string {
	if s.config.oauth == nil {
		return ""
	}
	return s.config.oauth.first()
}

// ServeHTTP answers one request of a client.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.stopping.Load() {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the node stops", http.StatusServiceUnavailable)
		return
	}
	body, ok := s.read(w, r)
	if !ok {
		return
	}
	if id := w.Header().Get(requestIDHeader); id != "" {
		r.Header.Set(requestIDHeader, id) // so that the calls for the request are found under the id of its answer
	}
	asked := peek(body)
	if len(asked.messages) > maxBatch {
		http.Error(w, "a batch has at most "+strconv.Itoa(maxBatch)+" messages", http.StatusBadRequest)
		return
	}
	if asked.oddID {
		http.Error(w, "malformed payload: the id of a message is a text or a number", http.StatusBadRequest)
		return
	}
	if asked.sameID {
		http.Error(w, "two requests of a batch have the same id: give each an id of its own", http.StatusBadRequest)
		return
	}
	if s.config.oauth != nil {
		for _, name := range asked.tools {
			if t := s.offer.tool(name); t != nil && s.config.oauth.refuse(w, r, &t.action) {
				return
			}
		}
	}
	stream := newEventWriter(w)
	defer stream.close()
	stream.single = asked.single
	if r.Header.Get("MCP-Protocol-Version") >= firstWithoutSessions || asked.standsAlone {
		s.without.ServeHTTP(stream, forCaller(r, body))
		return
	}
	id := r.Header.Get(sessionHeader)
	if id == "" && r.Method == http.MethodGet {
		// The SDK answers 400. The client of Vercel's AI SDK asks before it begins a session, and again later, and takes 405 only for no fault.
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "a session begins with a POST of initialize", http.StatusMethodNotAllowed)
		return
	}
	if id == "" && len(body) > maxBeginning {
		http.Error(w, "what begins a session has at most "+strconv.Itoa(maxBeginning)+" bytes", http.StatusRequestEntityTooLarge)
		return
	}
	if id != "" {
		if stream.requests = s.known.use(id); stream.requests != nil {
			defer stream.requests.follow(asked.messages, r)()
		}
	}
	s.withID.ServeHTTP(stream, forCaller(r, body))
	if given := w.Header().Get(sessionHeader); id == "" && given != "" {
		s.known.use(given)
	}
}

// read reads the body, within the limit of the server.
func (s *server) read(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if subrequest.Encoded(r.Header) {
		http.Error(w, subrequest.Compressed, http.StatusUnsupportedMediaType)
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.site.Body))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		http.Error(w, "the body is larger than the limit of the server", http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if err != nil {
		http.Error(w, "the body did not come as announced", http.StatusBadRequest)
		return nil, false
	}
	// The time limit of the body must not end the call: while it runs, net/http reads on to notice when the client goes.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, true
}

// maxBeginning bounds what begins a session, which the SDK keeps as long as the session.
const maxBeginning = 64 << 10

// maxBatch is the bound of batches elsewhere over HTTP. The SDK begins all calls of one at once.
const maxBatch = 100

// asked says which handler of the SDK a request needs, and which tools it calls: both must be known before the SDK reads it.
type asked struct {
	standsAlone bool     // it is of a revision without sessions, whatever its header says
	tools       []string // that it calls
	messages    []message
	single      bool // it is one message, not a batch
	oddID       bool // the id of a message is a list or an object
	sameID      bool // two requests have one id, of which the SDK answers one
}

// message has of a message of a client what this side must know too.
type message struct {
	ID     scalar `json:"id"`
	Method string `json:"method"`
	Params struct {
		Name string `json:"name"`
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
		cancelParams
	} `json:"params"`
}

// scalar is a text or a number in a message. A list or an object in its place is not read: it would take a hundred times its length.
type scalar struct {
	value any
	odd   bool
}

func (s *scalar) UnmarshalJSON(text []byte) error {
	if s.odd = text[0] == '[' || text[0] == '{'; s.odd {
		return nil
	}
	return json.Unmarshal(text, &s.value)
}

// messagesOf returns one message, or those of a batch. Of one with too many it reads so many that this is known: half a million
// would take 170 MB.
func messagesOf(body []byte) (list []json.RawMessage, single bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
		return []json.RawMessage{body}, true
	}
	for d.More() && len(list) <= maxBatch {
		var one json.RawMessage
		if d.Decode(&one) != nil {
			return []json.RawMessage{body}, true
		}
		list = append(list, one)
	}
	if len(list) <= maxBatch && !endsBatch(d) {
		return []json.RawMessage{body}, true
	}
	return list, false
}

// endsBatch reports whether nothing but the end of the list is left.
func endsBatch(d *json.Decoder) bool {
	if end, err := d.Token(); err != nil || end != json.Delim(']') {
		return false
	}
	_, err := d.Token()
	return err == io.EOF
}

// peek reads as much of a message, or of a batch of them. What it cannot read, the SDK refuses: of one message, where the others are served.
func peek(body []byte) (found asked) {
	var list []json.RawMessage
	list, found.single = messagesOf(body)
	ids := make(map[any]bool)
	for _, text := range list {
		var m message
		_ = json.Unmarshal(text, &m) // as far as it goes
		found.messages = append(found.messages, m)
		found.oddID = found.oddID || m.ID.odd
		if m.Method != "" && m.ID.value != nil {
			found.sameID = found.sameID || ids[m.ID.value]
			ids[m.ID.value] = true
		}
		found.standsAlone = found.standsAlone || m.Params.Meta.Version != ""
		if m.Method == "tools/call" {
			found.tools = append(found.tools, m.Params.Name)
		}
	}
	return found
}

// catchPanics makes a panic the error of its request. The SDK would let it end the process.
func (s *server) catchPanics(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		returned := false
		defer func() {
			if returned {
				return
			}
			attrs := []any{"method", method, "panic", recover(), "stack", string(debug.Stack())}
			if r := s.callerOf(extraOf(req)); r != nil {
				attrs = append(attrs, subrequest.NamedBy(r)...)
			}
			s.site.Node.Log().Error("mcp panicked", attrs...)
			result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error; the node's log tells more"}
		}()
		result, err = next(ctx, method, req)
		returned = true
		return result, err
	}
}

// The SDK keeps the context of the request that began a session for all of them, and gives handlers of each request one thing that its
// own context carries: the token. So the caller's request goes by that way: forCaller puts it into the context and knowCaller, which
// stands where others verify tokens, gets it out. Its UserID makes the SDK refuse sessions of other callers.

type callerKey struct{}

// forCaller is the client's request for the SDK, with the body that was read.
func forCaller(r *http.Request, body []byte) *http.Request {
	own := r.Clone(context.WithValue(r.Context(), callerKey{}, r))
	own.Header.Set("Authorization", "Bearer caller")
	own.Body = io.NopCloser(bytes.NewReader(body))
	own.ContentLength = int64(len(body))
	return own
}

const requestNote = "request"

func knowCaller(ctx context.Context, _ string, _ *http.Request) (*sdkauth.TokenInfo, error) {
	caller, _ := ctx.Value(callerKey{}).(*http.Request)
	p, _ := auth.FromContext(caller.Context())
	return &sdkauth.TokenInfo{UserID: p.Subject, Extra: map[string]any{requestNote: caller}}, nil
}

func extraOf(req sdk.Request) *sdk.RequestExtra {
	if req == nil {
		return nil
	}
	return req.GetExtra()
}

// callerOf is the client's request; nil for none.
func (s *server) callerOf(extra *sdk.RequestExtra) *http.Request {
	if extra != nil && extra.TokenInfo != nil {
		if r, ok := extra.TokenInfo.Extra[requestNote].(*http.Request); ok {
			return r
		}
	}
	return s.own
}
