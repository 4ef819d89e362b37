package web

import (
	stdjson "encoding/json"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/httpaccess"
)

// The types of answers.
const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

// pages are the addresses of the server itself that answer at once, all of them only read.
func (s *server) pages() map[string]*target {
	open, known := s.settings.root.chain[:1], s.settings.root.chain // health and readiness need no key
	return map[string]*target{
		"/health": {path: "/health", page: (*requestContext).health, chain: open},
		"/ready":  {path: "/ready", page: (*requestContext).ready, chain: open},
		"/":       {path: "/", page: (*requestContext).index, chain: known},
		"/$api":   {path: "/$api", page: (*requestContext).describe, chain: known},
	}
}

func (rc *requestContext) health() { rc.send([]byte(`{"status":"ok"}` + "\n")) }

// ready reports whether calls should be sent here, and if not, why. The errors of checks are for operators, and for callers on the same machine
// as a server that listens there only; others get the names.
func (rc *requestContext) ready() {
	if err := rc.node.Ready(rc.Context); err != nil {
		e := *sabir.AsError(err)
		if failed := httpaccess.FailedChecks(e.Data); failed != nil && !rc.onlyLocal && !rc.isOperator(rc.Exchange) {
			e.Message = "the node is not ready: " + strings.Join(failed, ", ")
		}
		rc.fail(&e)
		return
	}
	rc.send([]byte(`{"status":"ready"}` + "\n"))
}

// send makes the answer a JSON document.
func (rc *requestContext) send(body []byte) {
	rc.Status, rc.Type, rc.Out = http.StatusOK, jsonType, append(rc.Out[:0], body...)
}

// index is the answer to GET /: a first overview of the node's API.
type index struct {
	Node    string        `json:"node"`
	State   string        `json:"state"`
	Call    string        `json:"call"`
	Health  string        `json:"health"`
	Ready   string        `json:"ready"`
	API     string        `json:"api"`
	Actions []indexAction `json:"actions"`
}

type indexAction struct {
	Name        string   `json:"name"`
	Path        string   `json:"path"`
	Routes      []string `json:"routes,omitempty"`
	Stream      bool     `json:"stream,omitempty"`
	Description string   `json:"description,omitempty"`
}

// index answers with the list of actions.
func (rc *requestContext) index() {
	list := index{Node: rc.node.ID(), State: rc.node.State(), Call: "POST a JSON object to an action's path",
		Health: "/health", Ready: "/ready", API: "/$api", Actions: []indexAction{}}
	for _, a := range rc.node.Actions() {
		if !rc.offers(a) || isOperatorAction(a) && !rc.isOperator(rc.Exchange) {
			continue
		}
		for _, d := range rc.groupsOf(a) {
			entry := indexAction{Name: a.Name, Path: d.prefix + actionPath(a.Name), Stream: a.Stream, Description: a.Description}
			for _, r := range a.Routes {
				entry.Routes = append(entry.Routes, r.Method+" "+d.prefix+r.Pattern)
			}
			list.Actions = append(list.Actions, entry)
		}
	}
	body, err := stdjson.MarshalIndent(list, "", "  ") // indented, to be readable
	if err != nil {
		rc.fail(sabir.NewError(sabir.CodeInternal, errname.BadOutput, internalMessage(rc.ID)))
		return
	}
	rc.send(append(body, '\n'))
}

// describe answers with the description that clients and documents are generated from.
func (rc *requestContext) describe() {
	body, err := json.Codec.Append(nil, rc.api())
	if err != nil {
		rc.node.Log().Error("the description of the actions cannot be written as JSON", rc.logged().attrs("reason", err)...)
		rc.fail(sabir.NewError(sabir.CodeInternal, errname.BadOutput, internalMessage(rc.ID)))
		return
	}
	rc.send(body)
}
