package auth

import (
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/isolate"
	"github.com/sabir-go/sabir/web/exchange"
)

// until watches over the credentials that x's caller has shown, for as long as an answer lasts that may outlive them: a stream,
// events, a WebSocket. end is called at most once, on another goroutine: with ErrTokenExpired at [Principal.Expires], with
// ErrSignedOut when the session ends by [Sessions.SignOut], [Sessions.SignIn] or SessionConfig.Revalidate. stop ends the watch, and must be
// called. Without an end of the credentials, or without a caller, it costs nothing; else a timer.
func until(x *exchange.Exchange, end func(error)) (stop func()) {
	p, _ := x.Principal.(*Principal)
	if p == nil || p.Expires.IsZero() && p.session == nil {
		return func() {}
	}
	w := &watch{principal: p, expires: p.Expires, end: end, confirmed: time.Now()}
	if now := time.Now(); !p.Expires.IsZero() && !now.Before(p.Expires) {
		w.expires = p.Expires.Add(p.leeway) // it was taken all the same, since clocks differ
	}
	first := w.pause()
	if p.session != nil {
		p.session.watches.add(w)
		if p.session.config.Revalidate != nil || p.session.config.Store != nil {
			first = 0 // Recheck may have run after the caller was found and before it could find w
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.timer = time.AfterFunc(first, w.look)
	}
	return w.stop
}

// watch ends one long response when its caller's credentials end.
type watch struct {
	principal *Principal
	expires   time.Time // zero for never
	end       func(error)

	mu    sync.Mutex
	timer *time.Timer
	over  bool

	confirmed time.Time // when the store had the session last
}

// pause returns the time until the next look. Clocks may be set, so credentials that end in a year are also looked at now and
// then.
func (w *watch) pause() time.Duration {
	longest := maxVerifiedAge
	if s := w.principal.session; s != nil && s.config.Store != nil {
		longest = storeEvery
	}
	if w.expires.IsZero() {
		return longest
	}
	return max(min(time.Until(w.expires), longest), 0)
}

// look ends the response if it is time, or waits on.
func (w *watch) look() {
	if !w.expires.IsZero() && !time.Now().Before(w.expires) {
		w.finish(ErrTokenExpired)
		return
	}
	if w.principal.session != nil {
		w.recheck()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.timer.Reset(w.pause())
	}
}

// recheck asks Revalidate and the store.
func (w *watch) recheck() {
	w.revalidate()
	w.askStore()
}

func (w *watch) revalidate() {
	s := w.principal.session
	if s.config.Revalidate == nil {
		return
	}
	good := false
	err := isolate.Do(func() error { // it is not the timer's code that runs here
		good = s.config.Revalidate(w.principal.plain(), s.began)
		return nil
	})
	switch {
	case err != nil:
		w.finish(err)
	case !good:
		w.finish(ErrSignedOut)
	}
}

// finish ends the answer.
func (w *watch) finish(err error) {
	if w.close() {
		w.end(err)
	}
}

// stop ends the watch.
func (w *watch) stop() { w.close() }

// close ends the watch and reports whether it was open.
func (w *watch) close() bool {
	w.mu.Lock()
	was := !w.over
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	if was && w.principal.session != nil {
		w.principal.session.watches.remove(w)
	}
	return was
}

// sessionOf identifies the session in which a principal was found. It has no pointer to the Sessions, which would link them into programs without any.
type sessionOf struct {
	config  *SessionConfig
	watches *watches
	id      string
	began   time.Time
}

// watches holds the long responses, by their sessions.
type watches struct {
	mu sync.Mutex
	by map[string]map[*watch]struct{} // by the session's id
}

func (s *watches) add(w *watch) {
	id := w.principal.session.id
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = make(map[string]map[*watch]struct{})
	}
	if s.by[id] == nil {
		s.by[id] = make(map[*watch]struct{})
	}
	s.by[id][w] = struct{}{}
}

func (s *watches) remove(w *watch) {
	id := w.principal.session.id
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by[id], w)
	if len(s.by[id]) == 0 {
		delete(s.by, id)
	}
}

// selected returns the long responses that which selects.
func (s *watches) selected(which func(*watch) bool) (list []*watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range s.by {
		for w := range of {
			if which(w) {
				list = append(list, w)
			}
		}
	}
	return list
}

// endSession ends the session that a request came with, in the store and its long responses.
func (s *Sessions) endSession(x *exchange.Exchange) error {
	found := s.open(x.Cookie(s.cookieName(x)), time.Now())
	if found == nil {
		return nil
	}
	err := s.endStored(x.Context, found)
	id := found.Principal.session.id
	for _, w := range s.watches.selected(func(w *watch) bool { return w.principal.session.id == id }) {
		w.finish(ErrSignedOut)
	}
	return err
}

// Recheck asks Revalidate at once about the sessions of a subject, after a change that made it think otherwise, such as signing
// a user out everywhere: their streams in this process end, and no request of theirs passes because it was asked before.
// Other processes find out by themselves within 5 minutes, unless they are notified too.
func (s *Sessions) Recheck(subject string) {
	s.known.forget()
	for _, w := range s.watches.selected(func(w *watch) bool { return w.principal.Subject == subject }) {
		w.recheck()
	}
}
