package overload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
)

// callers is the number of those whose answers are the node's capacity.
const callers = 20

// capacity measures how many calls the node answers in a second to callers that wait for each answer.
func (n *node) capacity(ctx context.Context) float64 {
	const lasting = 3 * time.Second
	var answered atomic.Int64
	var calling sync.WaitGroup
	begun := time.Now()
	for range callers {
		calling.Go(func() {
			for time.Since(begun) < lasting && ctx.Err() == nil {
				if n.call(ctx) == nil {
					answered.Add(1)
				}
			}
		})
	}
	calling.Wait()
	return float64(answered.Load()) / time.Since(begun).Seconds()
}

// counts is how the calls of one load ended.
type counts struct {
	sync.Mutex
	answered, refused  []time.Duration
	late, lost, others int
}

// load makes calls at a rate for a time, and waits for their ends.
func (n *node) load(ctx context.Context, offered, capacity float64, deadline, lasting time.Duration) Load {
	var c counts
	var calling sync.WaitGroup
	begun, had := time.Now(), n.processorTime()
	tick := time.NewTicker(500 * time.Microsecond)
	defer tick.Stop()
	for made := 0; time.Since(begun) < lasting && ctx.Err() == nil; <-tick.C {
		for due := int(time.Since(begun).Seconds() * offered * capacity); made < due; made++ {
			calling.Go(func() {
				limited, cancel := context.WithTimeout(ctx, deadline)
				defer cancel()
				before := time.Now()
				c.add(n.call(limited), time.Since(before), deadline)
			})
		}
	}
	calling.Wait()
	return Load{Offered: offered, Processor: (n.processorTime() - had).Seconds() / time.Since(begun).Seconds(), Goodput: float64(len(c.answered)) / lasting.Seconds() / capacity, Late: c.late, Refused: len(c.refused), Lost: c.lost,
		Other: c.others, Answered: percentiles(c.answered), Refusals: percentiles(c.refused)}
}

func (c *counts) add(err error, took, deadline time.Duration) {
	c.Lock()
	defer c.Unlock()
	switch {
	case err == nil && took <= deadline:
		c.answered = append(c.answered, took)
	case errors.Is(err, sabir.ErrTooManyCalls):
		c.refused = append(c.refused, took)
	case err == nil || errors.Is(err, context.DeadlineExceeded):
		c.late++
	case errors.Is(err, sabir.ErrLinkLost):
		c.lost++
	default:
		c.others++
	}
}

func percentiles(list []time.Duration) (p Percentiles) {
	if len(list) == 0 {
		return p
	}
	slices.Sort(list)
	return Percentiles{P50: list[len(list)/2], P99: list[len(list)*99/100]}
}

// httpCaller calls over HTTP, with the deadline in the header that Sabir reads.
func httpCaller(address string) func(ctx context.Context) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	return func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/do", bytes.NewReader([]byte(`{"N":1}`)))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		if end, ok := ctx.Deadline(); ok {
			r.Header.Set("X-Request-Timeout", time.Until(end).String())
		}
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		switch {
		case err != nil:
			return err
		case answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "":
			return sabir.ErrTooManyCalls
		case answer.StatusCode == http.StatusGatewayTimeout:
			return context.DeadlineExceeded
		case answer.StatusCode != http.StatusOK || string(body) != `{"N":1}`:
			return fmt.Errorf("%s: %s", answer.Status, body)
		}
		return nil
	}
}
