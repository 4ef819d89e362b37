package dashboard

import (
	"context"
	"sync"
	"time"
)

// answerCache keeps the answers of nodes for a second, so that many browsers ask them no more often than one.
type answerCache struct {
	mu      sync.Mutex
	answers map[string]*cachedAnswer
}

type cachedAnswer struct {
	done  chan struct{} // closed when value and err are there
	value any
	err   error
	until time.Time // it is valid, or waited for
}

// The bounds of what is kept.
const (
	keepTime   = time.Second
	waitTime   = 10 * time.Second
	maxAnswers = 256
)

func newAnswerCache() *answerCache { return &answerCache{answers: make(map[string]*cachedAnswer)} }

// get returns the result of do, or what it returned within the last second for the same key. do goes on if its caller leaves,
// since others may wait for it; it must end by itself.
func (a *answerCache) get(ctx context.Context, key string, do func(context.Context) (any, error)) (any, error) {
	a.mu.Lock()
	now := time.Now()
	known := a.answers[key]
	if known == nil || now.After(known.until) {
		a.tidy(now)
		known = &cachedAnswer{done: make(chan struct{}), until: now.Add(waitTime)}
		a.answers[key] = known
		go a.fill(context.WithoutCancel(ctx), known, do)
	}
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, waitTime)
	defer cancel()
	select {
	case <-known.done:
		return known.value, known.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (a *answerCache) fill(ctx context.Context, to *cachedAnswer, do func(context.Context) (any, error)) {
	ctx, cancel := context.WithTimeout(ctx, waitTime/2)
	defer cancel()
	value, err := do(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	to.value, to.err, to.until = value, err, time.Now().Add(keepTime)
	close(to.done)
}

// tidy drops old answers. It is called with mu held.
func (a *answerCache) tidy(now time.Time) {
	for key, known := range a.answers {
		if now.After(known.until) || len(a.answers) >= maxAnswers {
			delete(a.answers, key)
		}
	}
}
