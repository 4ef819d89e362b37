package dashboard

import (
	"fmt"
	"net/http"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/names"
)

// The bounds of a stream's writes: what a browser does not take in writeLimit ends it; quietTime after the last message it
// gets a comment, so that proxies in between do not take the stream for dead.
const (
	writeLimit = 10 * time.Second
	quietTime  = 15 * time.Second
)

// source is a stream of Server-Sent Events (html.spec.whatwg.org, 9.2).
type source struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// openSource answers with an empty stream.
func openSource(w http.ResponseWriter) (*source, error) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep the messages back
	s := &source{w, http.NewResponseController(w)}
	return s, s.write("retry: 1000\n\n")
}

func (s *source) write(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeLimit)) // a test's recorder has none
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}

// send sends one message. JSON has no line breaks, which would end it.
func (s *source) send(kind string, data []byte) error {
	return s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", kind, data))
}

// hello is the first message of a stream.
type hello struct {
	Node     string  `json:"node"`
	Version  string  `json:"version"` // of the page's files: a page of another version loads itself anew
	ReadOnly bool    `json:"readOnly"`
	Login    bool    `json:"login"` // one can log out
	Every    float64 `json:"every"` // seconds between looks
	History  []point `json:"history"`
}

// stream sends the looks until the browser goes or the node stops.
func (b *dashboard) stream(w http.ResponseWriter, r *http.Request) {
	watcher, history, err := b.hub.watch()
	if err != nil {
		b.fail(w, sabir.AsError(err))
		return
	}
	defer b.hub.unwatch(watcher)
	s, err := openSource(w)
	if err != nil {
		return
	}
	first, err := json.Codec.Append(nil, hello{b.node.ID(), b.version(), b.config.readOnly, b.sessions != nil, b.config.every.Seconds(), history})
	if err != nil || s.send("hello", first) != nil {
		return
	}
	session := time.NewTicker(b.config.sessionCheck)
	defer session.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-session.C:
			if b.checkSession(r) != nil {
				_ = s.send("logout", []byte("{}"))
				return
			}
		case <-watcher.wake:
			look, catalog, closed := b.hub.take(watcher)
			if catalog != nil && s.send("catalog", catalog) != nil {
				return
			}
			if look != nil && s.send("look", look) != nil {
				return
			}
			if closed {
				_ = s.send("stopping", []byte("{}"))
				return
			}
		}
	}
}

// version identifies the page's scripts and styles: it changes when they do.
func (b *dashboard) version() string { return b.files["/app.js"].tag + b.files["/style.css"].tag }

// streamEvents sends the events that pass and match a pattern.
func (b *dashboard) streamEvents(w http.ResponseWriter, r *http.Request) {
	pattern := r.URL.Query().Get("pattern")
	if pattern == "" {
		pattern = "**"
	}
	if err := names.CheckPattern(pattern); err != nil {
		b.fail(w, sabir.Errorf(sabir.CodeInvalidArgument, errname.BadName, "%w", err))
		return
	}
	l, err := b.events.listen(r.Context(), pattern)
	if err != nil {
		b.fail(w, sabir.AsError(err))
		return
	}
	defer b.events.leave(l)
	s, err := openSource(w)
	if err != nil || s.send("listening", []byte("{}")) != nil {
		return
	}
	// What has passed is sent ten times a second, since many events are cheaper together than each by itself.
	tick := time.NewTicker(stateEvery)
	defer tick.Stop()
	sent, checked := time.Now(), time.Now()
	for {
		var now time.Time
		select {
		case <-r.Context().Done():
			return
		case now = <-tick.C:
		}
		if b.node.State() != "running" {
			return
		}
		if now.Sub(checked) > b.config.sessionCheck {
			checked = now
			if b.checkSession(r) != nil {
				return
			}
		}
		passed := b.events.take(l)
		switch {
		case passed.Events != nil || passed.Missed > 0:
			text, failed := json.Codec.Append(nil, passed)
			if failed == nil {
				failed = s.send("events", text)
			}
			err = failed
		case now.Sub(sent) > quietTime:
			err = s.write(": \n\n")
		default:
			continue
		}
		if err != nil {
			return
		}
		sent = now
	}
}
