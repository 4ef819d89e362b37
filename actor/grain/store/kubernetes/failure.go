package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/grainstore"
)

// errNone is the error of a request for an object that is not there.
var errNone = errors.New("there is no such Lease")

// unanswered wraps the error of a request that got no answer. One that found no server was not sent.
func unanswered(err error) error {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
	}
	return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
}

// refusal makes an error of an answer with a status of HTTP and a Status object of Kubernetes.
func refusal(code int, text []byte) error {
	var status struct {
		Message string `json:"message"`
		Details struct {
			Kind string `json:"kind"`
		} `json:"details"`
	}
	_ = json.Unmarshal(text, &status)
	if status.Message == "" {
		status.Message = fmt.Sprintf("%d %s: %.200s", code, http.StatusText(code), strings.TrimSpace(string(text)))
	}
	err := errors.New("the API server answers: " + status.Message)
	switch code {
	case http.StatusNotFound:
		if status.Details.Kind != "leases" { // the namespace, or the whole API, is not there
			return err
		}
		return errNone
	case http.StatusConflict: // of a version, or the object is there already
		return fmt.Errorf("%w: %w", store.ErrFenced, err)
	case http.StatusTooManyRequests: // it was not begun (API Priority and Fairness)
		return fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
	case http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%w: %w", grainstore.ErrStateTooLarge, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w; its account needs the verbs get, create and patch (list and delete to tidy up) of leases.coordination.k8s.io", err)
	}
	if strings.Contains(status.Message, "database space exceeded") { // of etcd
		return fmt.Errorf("%w: %w", store.ErrStoreFull, err)
	}
	if code/100 == 5 { // it may have been begun
		return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
	}
	return err
}
