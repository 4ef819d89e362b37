package typescript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/sabir-go/sabir/validate"
)

// shopServer answers like the shop's actions, in the wire forms of the HTTP gateway. It is small enough to misbehave on
// purpose: to answer slowly, to break off, to be unreachable.
type shopServer struct {
	t     testing.TB
	mux   *http.ServeMux
	mu    sync.Mutex
	tries map[string]int
	left  chan string // what was canceled by its caller
}

// policy is the content security policy of a strict site: its pages may run only scripts of the site, none inline, and no eval.
const policy = "default-src 'none'; script-src 'self'; connect-src 'self' ws: http://127.0.0.1:1; require-trusted-types-for 'script'"

// startShop starts the server. It serves the files of site too, if that is not nil.
func startShop(t testing.TB, site fs.FS) (*httptest.Server, *shopServer) {
	s := &shopServer{t: t, mux: http.NewServeMux(), tries: map[string]int{}, left: make(chan string, 100)}
	s.mux.HandleFunc("POST /users/create", s.createUser)
	s.mux.HandleFunc("POST /users", s.createUser)
	s.mux.HandleFunc("POST /users/get", s.getUser)
	s.mux.HandleFunc("GET /users/{id}", s.getUserByPath)
	s.mux.HandleFunc("POST /v2/users/get", s.getUser)
	s.mux.HandleFunc("POST /users/list", func(w http.ResponseWriter, r *http.Request) {
		give(w, Page[User]{Items: []User{ada(1), ada(2)}, Total: 1 << 60})
	})
	s.mux.HandleFunc("POST /notes/find", func(w http.ResponseWriter, r *http.Request) {
		var in FindNotes
		if !take(w, r, &in) {
			return
		}
		at, _ := strconv.Atoi(in.Cursor)
		page := Notes{Items: []string{fmt.Sprint(in.Word, " ", at), fmt.Sprint(in.Word, " ", at+1)}}
		if at < 4 {
			page.Next = strconv.Itoa(at + 2)
		}
		give(w, page)
	})
	s.mux.HandleFunc("POST /numbers/echo", s.echoNumbers)
	s.mux.HandleFunc("POST /numbers/raw", func(w http.ResponseWriter, r *http.Request) {
		var in FileName
		if take(w, r, &in) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, in.Name)
		}
	})
	s.mux.HandleFunc("POST /clock/now", func(w http.ResponseWriter, r *http.Request) { give(w, moment) })
	s.mux.HandleFunc("POST /clock/reset", func(w http.ResponseWriter, r *http.Request) { give(w, struct{}{}) })
	s.mux.HandleFunc("POST /clock/wait", s.wait)
	s.mux.HandleFunc("POST /flaky/get", s.flaky)
	s.mux.HandleFunc("POST /flaky/set", s.flaky)
	s.mux.HandleFunc("POST /log/tail", s.tail)
	s.mux.HandleFunc("GET /events", s.events)
	s.mux.HandleFunc("GET /chat/room", s.room)
	s.mux.HandleFunc("POST /files/put", s.put)
	s.mux.HandleFunc("POST /files/get", s.get)
	s.mux.HandleFunc("POST /batch", s.batch)
	if site != nil {
		files := http.FileServerFS(site)
		s.mux.HandleFunc("GET /site/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", policy)
			http.StripPrefix("/site", files).ServeHTTP(w, r)
		})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req-7")
		s.mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server, s
}

var moment = time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)

func ada(id int64) User {
	return User{ID: id, Name: "Ada", Born: moment, Role: "admin", Visits: 1<<64 - 1, Age: 36, Score: 1e20, Tags: []string{}, Avatar: []byte{0, 1, 254, 255},
		Limits: map[string]int64{"a": -1 << 63, "__proto__": 3}, Friends: []*User{{ID: 9, Name: "Bob", Born: moment, Tags: []string{}, Avatar: []byte{}, Limits: map[string]int64{}}, nil}, Took: time.Second}
}

// give answers with a value.
func give(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		panic(err)
	}
}

// problem is the document of an error.
func problem(status int, code, name, message string, retryable bool, data any) map[string]any {
	p := map[string]any{"type": "urn:sabir:error:" + name, "title": http.StatusText(status), "status": status, "detail": message, "code": code,
		"name": name, "message": message, "retryable": retryable, "node": "shop-1", "requestId": "req-7"}
	if data != nil {
		p["data"] = data
	}
	return p
}

func refuse(w http.ResponseWriter, p map[string]any) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p["status"].(int))
	if err := json.NewEncoder(w).Encode(p); err != nil {
		panic(err)
	}
}

// take reads an input.
func take(w http.ResponseWriter, r *http.Request, in any) bool {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" && r.ContentLength != 0 {
		refuse(w, problem(415, "InvalidArgument", "UnsupportedMediaType", "want JSON, got "+kind, false, nil))
		return false
	}
	if err := json.NewDecoder(r.Body).Decode(in); err != nil && err != io.EOF {
		refuse(w, problem(400, "InvalidArgument", "BadInput", err.Error(), false, nil))
		return false
	}
	return true
}

var checker = validate.New()

func invalid(value any) map[string]any {
	at := reflect.ValueOf(value)
	plan, err := checker.Compile(at.Type().Elem())
	if err == nil {
		plan.SetDefaults(at.UnsafePointer())
		err = plan.Check(at.UnsafePointer())
	}
	if fields, ok := errors.AsType[validate.Errors](err); ok {
		return problem(422, "InvalidArgument", "ValidationFailed", fields.After("the input of users.create is not valid: "), false, fields)
	}
	return nil
}

func (s *shopServer) createUser(w http.ResponseWriter, r *http.Request) {
	var in NewUser
	if !take(w, r, &in) {
		return
	}
	if p := invalid(&in); p != nil {
		refuse(w, p)
		return
	}
	u := ada(in.Cents)
	u.Name, u.Born, u.Avatar, u.Tags = in.Name, in.Born, in.Avatar, in.Tags
	give(w, u)
}

func (s *shopServer) getUser(w http.ResponseWriter, r *http.Request) {
	var in GetUser
	if take(w, r, &in) {
		s.answerUser(w, r, in)
	}
}

func (s *shopServer) getUserByPath(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		refuse(w, problem(400, "InvalidArgument", "BadInput", err.Error(), false, nil))
		return
	}
	q := r.URL.Query()
	s.answerUser(w, r, GetUser{ID: id, Lang: q.Get("lang"), Fields: q["field"], Tenant: r.Header.Get("X-Tenant")})
}

func (s *shopServer) answerUser(w http.ResponseWriter, r *http.Request, in GetUser) {
	if in.ID == 404 {
		refuse(w, problem(404, "NotFound", "NoSuchUser", "there is no user 404", false, NoUser{ID: 1<<62 + 1, Before: moment}))
		return
	}
	if in.ID == 409 {
		refuse(w, problem(409, "Aborted", "Odd", "undeclared", false, nil))
		return
	}
	u := ada(in.ID)
	u.Extra = map[string]any{"method": r.Method, "lang": in.Lang, "fields": in.Fields, "tenant": in.Tenant, "timeout": r.Header.Get("X-Request-Timeout"),
		"key": r.Header.Get("Authorization"), "own": r.Header.Get("X-Own"), "big": json.Number("12345678901234567890")}
	give(w, u)
}

func (s *shopServer) echoNumbers(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Int64  int64           `json:"int64"`
		Uint64 uint64          `json:"uint64"`
		Int    int             `json:"int"`
		Float  float64         `json:"float"`
		Any    json.RawMessage `json:"any"`
	}
	if take(w, r, &in) {
		if in.Any == nil {
			in.Any = json.RawMessage("null")
		}
		give(w, in)
	}
}

func (s *shopServer) wait(w http.ResponseWriter, r *http.Request) {
	var in Wait
	if !take(w, r, &in) {
		return
	}
	timer := time.NewTimer(time.Duration(in.Millis) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		give(w, struct{}{})
	case <-r.Context().Done():
		s.left <- r.URL.Path
	}
}

// flaky misbehaves as the name demands, "what:times:key".
func (s *shopServer) flaky(w http.ResponseWriter, r *http.Request) {
	var in FileName
	if !take(w, r, &in) {
		return
	}
	parts := strings.Split(in.Name, ":")
	times, _ := strconv.Atoi(parts[1])
	s.mu.Lock()
	s.tries[in.Name]++
	try := s.tries[in.Name]
	s.mu.Unlock()
	if try > times {
		give(w, fmt.Sprintf("try %d", try))
		return
	}
	switch parts[0] {
	case "busy":
		w.Header().Set("Retry-After", "0")
		refuse(w, problem(503, "Unavailable", "ServiceUnavailable", "come back", true, nil))
	case "late":
		w.Header().Set("Retry-After", "3600")
		refuse(w, problem(503, "Unavailable", "ServiceUnavailable", "come back", true, nil))
	case "proxy":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(502)
		io.WriteString(w, "<h1>Bad gateway</h1>")
	case "cut":
		panic(http.ErrAbortHandler)
	}
}

// sse writes server-sent events.
type sse struct {
	http.ResponseWriter
	n int
}

func startSSE(w http.ResponseWriter, r *http.Request) *sse {
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		refuse(w, problem(406, "InvalidArgument", "BadInput", "the tests want events", false, nil))
		return nil
	}
	w.Header().Set("Content-Type", "text/event-stream")
	return &sse{ResponseWriter: w}
}

func (e *sse) value(value any) {
	e.n++
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(e, ": still here\n\nid: %d\ndata: %s\n\n", e.n, text)
	e.ResponseWriter.(http.Flusher).Flush()
}

func (s *shopServer) tail(w http.ResponseWriter, r *http.Request) {
	var in Tail
	var many []Tail
	if r.Header.Get("Content-Type") == "application/x-ndjson" {
		for d := json.NewDecoder(r.Body); d.Decode(&in) == nil; {
			many = append(many, in)
		}
		in = Tail{File: "short", From: len(many)}
	} else if !take(w, r, &in) {
		return
	}
	if in.File == "none" {
		refuse(w, problem(404, "NotFound", "NoSuchFile", "there is no such file", false, nil))
		return
	}
	if in.File == "down" {
		w.Header().Set("Retry-After", "0")
		refuse(w, problem(503, "Unavailable", "ServiceUnavailable", "no node has it", true, nil))
		return
	}
	e := startSSE(w, r)
	if e == nil {
		return
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		e.n, _ = strconv.Atoi(last)
	}
	lines := 3
	if in.File == "endless" {
		lines = 1 << 30
	}
	for i := range lines {
		if r.Context().Err() != nil {
			s.left <- r.URL.Path
			return
		}
		e.value(Line{N: int64(in.From) + int64(i) + 1<<60, At: moment, Text: "línea\r\n\u2028" + in.File})
		if in.File == "endless" && i == 2 {
			<-r.Context().Done()
		}
	}
	switch in.File {
	case "breaks":
		text, _ := json.Marshal(problem(500, "DataLoss", "LostFile", "the file is gone", false, nil))
		fmt.Fprintf(e, "event: error\ndata: %s\n\n", text)
	case "cut":
		panic(http.ErrAbortHandler)
	case "silent": // ends as a proxy would end it
	case "again":
		if e.n >= 9 {
			io.WriteString(e, "event: end\ndata: {}\n\n")
		}
	default:
		io.WriteString(e, "event: end\ndata: {}\n\n")
	}
}

func (s *shopServer) events(w http.ResponseWriter, r *http.Request) {
	if e := startSSE(w, r); e != nil {
		for _, topic := range r.URL.Query()["topic"] {
			fmt.Fprintf(e, "event: %s\ndata: {\"event\":%q,\"payload\":{\"n\":12345678901234567890},\"node\":\"shop-1\"}\n\n", topic, topic)
		}
		e.ResponseWriter.(http.Flusher).Flush()
		if r.URL.Query().Get("topic") == "cut" {
			return // as a node that stops
		}
		<-r.Context().Done()
		s.left <- r.URL.Path
	}
}

// room echoes each message; "bye" ends the stream, "boom" fails it.
func (s *shopServer) room(w http.ResponseWriter, r *http.Request) {
	up := ws.HTTPUpgrader{Protocol: func(p string) bool { return p == "sabir.v1" }}
	conn, _, _, err := up.Upgrade(r, w)
	if err != nil {
		return
	}
	defer conn.Close()
	say := func(value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		_ = wsutil.WriteServerText(conn, text) // a client that does not receive it is gone
	}
	for {
		text, err := wsutil.ReadClientText(conn)
		if err != nil {
			s.left <- r.URL.Path
			return
		}
		var message struct {
			Value *Said `json:"value"`
			End   bool  `json:"end"`
		}
		if err := json.Unmarshal(text, &message); err != nil {
			say(map[string]any{"error": problem(400, "InvalidArgument", "BadInput", err.Error(), false, nil)})
			return
		}
		if message.End {
			say(map[string]any{"value": Said{Text: "goodbye", At: moment}})
			say(map[string]any{"end": true})
			return
		}
		if message.Value.Text == "boom" {
			say(map[string]any{"error": problem(409, "Aborted", "Boom", "that was too much", false, nil)})
			return
		}
		say(map[string]any{"value": message.Value})
	}
}

func (s *shopServer) put(w http.ResponseWriter, r *http.Request) {
	_, disposition, _ := mime.ParseMediaType(r.Header.Get("Content-Disposition")) // none is no name
	body, name, kind := io.Reader(r.Body), disposition["filename"], r.Header.Get("Content-Type")
	switch given := r.Header.Get("Content-Type"); {
	case strings.HasPrefix(given, "multipart/form-data"):
		file, header, err := r.FormFile("file")
		if err != nil {
			refuse(w, problem(400, "InvalidArgument", "BadInput", err.Error(), false, nil))
			return
		}
		body, name, kind = file, header.Filename, header.Header.Get("Content-Type")
	case given != "application/octet-stream":
		refuse(w, problem(415, "InvalidArgument", "UnsupportedMediaType", given, false, nil))
		return
	}
	hash := sha256.New()
	n, err := io.Copy(hash, body)
	if err != nil {
		return
	}
	give(w, Receipt{Bytes: n, Name: name, Type: kind, SHA256: hex.EncodeToString(hash.Sum(nil))})
}

func (s *shopServer) get(w http.ResponseWriter, r *http.Request) {
	var in FileName
	if !take(w, r, &in) {
		return
	}
	if in.Name == "" {
		refuse(w, problem(404, "NotFound", "NoSuchFile", "there is no such file", false, nil))
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	for i := range 10 {
		w.Write([]byte(strings.Repeat(strconv.Itoa(i), 10_000)))
	}
}

func (s *shopServer) batch(w http.ResponseWriter, r *http.Request) {
	var calls []struct {
		Action string          `json:"action"`
		Input  json.RawMessage `json:"input"`
	}
	if !take(w, r, &calls) {
		return
	}
	answers := make([]map[string]any, len(calls))
	for i, call := range calls {
		one := httptest.NewRequestWithContext(context.WithoutCancel(r.Context()), "POST", "/"+strings.ReplaceAll(call.Action, ".", "/"), strings.NewReader(string(call.Input)))
		one.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		s.mux.ServeHTTP(rec, one)
		key := "output"
		if rec.Code != 200 {
			key = "problem"
		}
		answers[i] = map[string]any{"status": rec.Code, key: json.RawMessage(rec.Body.Bytes())}
	}
	give(w, answers)
}
