package http1

import (
	"context"
	"fmt"
	"time"
)

// poll is the interval at which Shutdown checks whether it is done.
const poll = 5 * time.Millisecond

// Shutdown stops the server without breaking off a request, if ctx allows. It accepts no more connections. It goes on
// answering on the open ones for Limits.Drain, or until none has come for Limits.Quiet, and announces in each answer that
// the connection ends. Then it closes idle connections and waits for the calls that run, or for ctx: those that remain are cut
// off, and the error has their number. Handlers that Late answered for are not waited for. Streams of hijacked connections
// (WebSockets) are not waited for either: they are closed at the end.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	s.drain(ctx)
	s.closeIdle()
	fallback := make(chan error, 1)
	go func() { fallback <- s.fallback.Shutdown(ctx) }()
	err := s.wait(ctx)
	if ferr := <-fallback; err == nil {
		err = ferr
	}
	if err != nil {
		err = fmt.Errorf("stopped with %d calls still running, which were cut off: %w", s.Calls(), err)
	}
	s.Close()
	return err
}

// stop ends Serve.
func (s *Server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Swap(true) {
		return
	}
	close(s.stopped)
	for _, l := range s.listeners {
		l.Close()
	}
}

// drain goes on answering until no connection is left or no request comes any more. Each answer now announces that its
// connection ends, so clients in the middle of their work leave by themselves. To close their connections at once would
// drop the requests that are on their way.
func (s *Server) drain(ctx context.Context) {
	clock := time.NewTicker(poll)
	defer clock.Stop()
	began, last, seen := time.Now(), time.Now(), s.lastRequests.Load()
	for s.Connections() > 0 && time.Since(began) < s.limits.Drain && time.Since(last) < s.limits.Quiet {
		select {
		case <-clock.C:
		case <-ctx.Done():
			return
		}
		if now := s.lastRequests.Load(); now != seen {
			seen, last = now, time.Now()
		}
	}
}

// closeIdle closes idle connections and returns how many others net/http does not have.
func (s *Server) closeIdle() (busy int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		state := c.state.Load()
		switch phaseOf(state) {
		case idle, lingers:
			if c.state.CompareAndSwap(state, uint64(ended)) {
				c.socket.Close()
			}
		case handedOver:
			continue
		}
		busy++
	}
	return busy
}

// wait waits until all calls outside net/http have been answered.
func (s *Server) wait(ctx context.Context) error {
	clock := time.NewTicker(poll)
	defer clock.Stop()
	for s.closeIdle() > 0 {
		select {
		case <-clock.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Close ends the server at once and breaks off what it does. Handlers see it by their context. It always returns nil.
func (s *Server) Close() error {
	s.stop()
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	for _, c := range s.conns {
		c.socket.Close()
		c.connContext.end(context.Canceled)
	}
	started := s.started
	s.mu.Unlock()
	s.fallback.Close()
	s.handovers.Close()
	if first {
		close(s.stopWatchdog)
	}
	if started {
		<-s.watchdogDone
		<-s.fallbackDone
	}
	return nil
}
