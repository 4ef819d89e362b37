package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/directory"
)

// Keys names the keys that [Client.Keep] keeps and reads.
type Keys struct {
	// Prefix begins the keys that are read, up to Limit of them; 0 for all.
	Prefix string
	Limit  int
	// Enter writes keys by [Client.Put], bound to a new lease at first. It is called again when changed is closed; a nil channel never is.
	// A nil Enter writes none, and takes no lease.
	Enter func(ctx context.Context) (changed <-chan struct{}, err error)
	// Found gets all keys at first and whenever some have changed. Its error ends Keep.
	Found func([]KeyValue) error
}

// Keep writes keys and says what others are there, until something goes wrong or ctx ends. It calls working when it has done both.
func (c *Client) Keep(ctx context.Context, keys Keys, working func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := c.authenticate(ctx); err != nil {
		return err
	}
	changed, err := c.enter(ctx, keys)
	if err != nil {
		if _, answered := errors.AsType[*directory.Status](err); answered { // an etcd without space for more takes no key, and has all that are there
			_, _ = c.report(ctx, keys)
		}
		return err
	}
	revision, err := c.report(ctx, keys)
	if err != nil {
		return err
	}
	working()
	news := make(chan error, 1)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(ctx, keys.Prefix, revision, news)
	}()
	defer func() {
		cancel()
		<-watched
	}()
	renew := time.NewTicker(time.Duration(c.ttl) * time.Second / 3)
	defer renew.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-renew.C:
			err = c.renew(ctx)
		case <-changed:
			changed, err = keys.Enter(ctx)
		case err = <-news:
			if err == nil {
				_, err = c.report(ctx, keys)
			}
		}
	}
	return err
}

// enter writes the keys of a new lease.
func (c *Client) enter(ctx context.Context, keys Keys) (changed <-chan struct{}, err error) {
	if keys.Enter == nil {
		return nil, nil
	}
	if err := c.grant(ctx); err != nil {
		return nil, err
	}
	return keys.Enter(ctx)
}

func (c *Client) report(ctx context.Context, keys Keys) (revision int64, err error) {
	all, revision, err := c.list(ctx, keys.Prefix, keys.Limit)
	if err != nil {
		return 0, err
	}
	return revision, keys.Found(all)
}

// watchMessage is one message of a watch.
type watchMessage struct {
	Result struct {
		Canceled bool              `json:"canceled"`
		Reason   string            `json:"cancel_reason"`
		Events   []json.RawMessage `json:"events"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// watch notes that something has changed, until the watch ends, which it notes too. Changes that come fast are noted together.
func (c *Client) watch(ctx context.Context, prefix string, after int64, news chan error) {
	note := func(err error) {
		if err != nil {
			select { // the end is more than a change
			case <-news:
			default:
			}
		}
		select {
		case news <- err:
		default:
		}
	}
	create := below(prefix)
	create.StartRevision = fmt.Sprint(after + 1)
	stream, err := c.client.Open(ctx, http.MethodPost, "/v3/watch", map[string]keyRange{"create_request": create})
	if err != nil {
		note(err)
		return
	}
	defer stream.Body.Close()
	bounded := &io.LimitedReader{R: stream.Body}
	messages := json.NewDecoder(bounded)
	for {
		bounded.N = directory.MaxAnswer // for each message
		var m watchMessage
		err := messages.Decode(&m)
		switch {
		case err != nil:
			note(fmt.Errorf("the watch ended: %w", err))
			return
		case m.Error != nil:
			note(errors.New("the watch ended: " + m.Error.Message))
			return
		case m.Result.Canceled:
			note(errors.New("the watch was ended: " + strings.TrimSpace(m.Result.Reason)))
			return
		case len(m.Result.Events) > 0:
			note(nil)
		}
	}
}
