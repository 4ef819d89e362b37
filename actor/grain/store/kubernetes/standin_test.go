package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// standIn does with Leases what an API server does: one counter of versions for all objects, writes that name the version that they replace. The same tests run
// against a kube-apiserver where there is one: see TestStoreOfAKubeAPIServer.
type standIn struct {
	*httptest.Server

	mu      sync.Mutex
	version uint64
	objects map[string]map[string]any
	refuse  func(r *http.Request) (code int, message string) // 0 for none
	seen    http.Header                                      // of the last request
}

func newStandIn(t *testing.T) *standIn {
	s := &standIn{version: 1000, objects: map[string]map[string]any{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// address returns the address for store.Open, which leads here as one over kubectl proxy would.
func (s *standIn) address() string {
	return "kubernetes://" + strings.TrimPrefix(s.URL, "http://") + "/shop"
}

// refuseWith has all requests answered with a status until the function that it returns is called.
func (s *standIn) refuseWith(refuse func(r *http.Request) (int, string)) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
	return func() { s.refuseWith(nil) }
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = r.Header.Clone()
	if s.refuse != nil {
		if code, message := s.refuse(r); code != 0 {
			answer(w, code, map[string]any{"kind": "Status", "message": message, "reason": http.StatusText(code), "code": code})
			return
		}
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/apis/coordination.k8s.io/v1/namespaces/shop/leases")
	if !ok {
		answer(w, http.StatusNotFound, "404 page not found")
		return
	}
	name = strings.TrimPrefix(name, "/")
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	old, is := s.objects[name]
	switch {
	case r.Method == http.MethodGet && name == "":
		s.list(w, r)
	case r.Method == http.MethodPost && s.objects[meta(in)["name"].(string)] != nil:
		refuseObject(w, http.StatusConflict, "already exists")
	case r.Method == http.MethodPost:
		s.keep(w, http.StatusCreated, in)
	case !is:
		refuseObject(w, http.StatusNotFound, fmt.Sprintf("leases.coordination.k8s.io %q not found", name))
	case r.Method == http.MethodGet:
		answer(w, http.StatusOK, old)
	case r.Method == http.MethodPatch && meta(in)["resourceVersion"] != meta(old)["resourceVersion"]:
		refuseObject(w, http.StatusConflict, "the object has been modified; please apply your changes to the latest version and try again")
	case r.Method == http.MethodPatch:
		s.keep(w, http.StatusOK, merge(old, in).(map[string]any))
	case r.Method == http.MethodDelete:
		if wanted := in["preconditions"].(map[string]any)["resourceVersion"]; wanted != meta(old)["resourceVersion"] {
			refuseObject(w, http.StatusConflict, "precondition failed")
			return
		}
		delete(s.objects, name)
		answer(w, http.StatusOK, map[string]any{"kind": "Status", "status": "Success"})
	}
}

func (s *standIn) list(w http.ResponseWriter, r *http.Request) {
	key, value, _ := strings.Cut(r.URL.Query().Get("labelSelector"), "=")
	items := []any{}
	for _, o := range s.objects {
		if labels, _ := meta(o)["labels"].(map[string]any); labels[key] == value {
			items = append(items, o)
		}
	}
	answer(w, http.StatusOK, map[string]any{"kind": "LeaseList", "items": items})
}

func (s *standIn) keep(w http.ResponseWriter, code int, o map[string]any) {
	s.version += 3 // others write too
	meta(o)["resourceVersion"] = strconv.FormatUint(s.version, 10)
	meta(o)["uid"] = "uid of " + meta(o)["name"].(string)
	s.objects[meta(o)["name"].(string)] = o
	answer(w, code, o)
}

// merge is a JSON merge patch (RFC 7396).
func merge(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged := map[string]any{}
	if old, ok := target.(map[string]any); ok {
		maps.Copy(merged, old)
	}
	for name, value := range changes {
		if value == nil {
			delete(merged, name)
		} else {
			merged[name] = merge(merged[name], value)
		}
	}
	return merged
}

func meta(o map[string]any) map[string]any { return o["metadata"].(map[string]any) }

func refuseObject(w http.ResponseWriter, code int, message string) {
	answer(w, code, map[string]any{"kind": "Status", "message": message, "reason": http.StatusText(code), "details": map[string]any{"kind": "leases"}, "code": code})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
