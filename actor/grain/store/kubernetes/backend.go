package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/grainstore"
)

func init() { grainstore.Register("kubernetes", driver{}) }

// maxState is the number of bytes that a state may have: Kubernetes allows 256 KiB for all annotations of an object.
const maxState = 128 << 10

const (
	answerLimit = 5 * time.Second
	openLimit   = 10 * time.Second
	maxAnswer   = 1 << 20
	goneFor     = 24 * time.Hour // how long the object of a deleted state stays
	maxTidied   = 500            // of which are removed at an opening
)

type driver struct{}

// backend is the Lease objects of one prefix in one namespace.
type backend struct {
	server server
	prefix string
	holder string

	open  context.Context // ends with Close
	close context.CancelFunc
	tidy  chan struct{} // closed when what was deleted long ago is removed
}

func (driver) Open(ctx context.Context, at *url.URL, config grainstore.Config) (grainstore.Backend, error) {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	s, prefix, err := parse(at, config.TLS)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	b := &backend{server: s, prefix: prefix, holder: config.Name, tidy: make(chan struct{})}
	b.open, b.close = context.WithCancel(context.Background())
	if err := b.Check(ctx); err != nil {
		close(b.tidy)
		b.Close()
		return nil, fmt.Errorf("store: kubernetes://%s/%s: %w", s.base.Host, s.namespace, err)
	}
	go b.removeGone(config.Log)
	return b, nil
}

// do sends a request with in as its JSON, nil for none, and reads the JSON of the answer into out, nil for none. Its errors are those of a Backend.
func (b *backend) do(ctx context.Context, method, path string, query url.Values, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	defer context.AfterFunc(b.open, cancel)()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	r, err := b.server.request(ctx, method, path, query, body)
	if err != nil {
		return err
	}
	answer, err := b.server.client.Do(r)
	if err != nil {
		return unanswered(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return unanswered(err)
	case answer.StatusCode/100 != 2:
		return refusal(answer.StatusCode, text)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%w: the API server's answer cannot be read: %w", store.ErrOutcomeUnknown, err)
	}
	return nil
}

func (b *backend) Read(ctx context.Context, kind, key string) (grainstore.Slot, error) {
	var o object
	err := b.do(ctx, http.MethodGet, b.server.lease(b.name(kind, key)), nil, nil, &o)
	if errors.Is(err, errNone) {
		return grainstore.Slot{}, nil
	}
	if err != nil {
		return grainstore.Slot{}, err
	}
	return o.slot()
}

func (b *backend) Write(ctx context.Context, kind, key string, expect uint64, slot grainstore.Slot) (uint64, error) {
	if len(slot.State) > maxState {
		return 0, fmt.Errorf("%w: it has %d bytes; an object of Kubernetes takes %d", grainstore.ErrStateTooLarge, len(slot.State), maxState)
	}
	o, written := b.object(kind, key, slot), object{}
	var err error
	if expect == 0 {
		err = b.do(ctx, http.MethodPost, b.server.leases(), nil, o, &written)
	} else { // a PUT would make the object if it is gone, whatever version it names
		err = b.do(ctx, http.MethodPatch, b.server.lease(o.Metadata.Name), nil, o.patch(expect), &written)
	}
	if errors.Is(err, errNone) && expect > 0 {
		return 0, fmt.Errorf("%w: there is none", store.ErrFenced)
	}
	if err != nil {
		return 0, err
	}
	return written.version()
}

// Check asks for one object, which shows that the API server answers and lets this account in. Who may write is seen by the first write.
func (b *backend) Check(ctx context.Context) error {
	err := b.do(ctx, http.MethodGet, b.server.lease(b.prefix+"-check"), nil, nil, nil)
	if errors.Is(err, errNone) {
		return nil
	}
	if errors.Is(err, store.ErrOutcomeUnknown) { // that was only a question
		return fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
	}
	return err
}

// removeGone removes the objects of states that were deleted long ago. It does not matter if it fails, or is done by two nodes.
func (b *backend) removeGone(log *slog.Logger) {
	defer close(b.tidy)
	var list struct {
		Items []object `json:"items"`
	}
	query := url.Values{"labelSelector": {goneLabel + "=" + b.prefix}, "limit": {fmt.Sprint(maxTidied)}}
	err := b.do(b.open, http.MethodGet, b.server.leases(), query, nil, &list)
	for _, o := range list.Items {
		if err != nil {
			break
		}
		renewed, bad := time.Parse(microTime, o.Spec.RenewTime)
		if bad == nil && time.Since(renewed) > goneFor {
			err = b.do(b.open, http.MethodDelete, b.server.lease(o.Metadata.Name), nil, deletion(o), nil)
			if errors.Is(err, errNone) || errors.Is(err, store.ErrFenced) {
				err = nil
			}
		}
	}
	if err != nil && b.open.Err() == nil {
		log.Warn("leases: what was deleted long ago stays in Kubernetes", "error", err)
	}
}

func (b *backend) Close() error {
	b.close()
	<-b.tidy
	b.server.client.CloseIdleConnections()
	return nil
}
