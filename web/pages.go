package web

import (
	stdjson "encoding/json"
	"net/http"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
)

// The types of answers.
const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

// pages are the addresses of the face itself that answer at once, all of them only read.
func (f *face) pages() map[string]*target {
	open, known := f.settings.root.steps[:1], f.settings.root.steps // health and readiness need no key
	return map[string]*target{
		"/health": {path: "/health", page: (*visit).health, steps: open},
		"/ready":  {path: "/ready", page: (*visit).ready, steps: open},
		"/":       {path: "/", page: (*visit).index, steps: known},
		"/$api":   {path: "/$api", page: (*visit).describe, steps: known},
	}
}

func (v *visit) health() { v.send([]byte(`{"status":"ok"}` + "\n")) }

// ready tells whether calls should be sent here.
func (v *visit) ready() {
	if state := v.node.State(); state != sabir.Running {
		v.fail(&sabir.Error{Code: sabir.Unavailable, Name: sabir.ErrUnavailable.Name, Node: v.node.ID(), Retryable: true, Message: "the node is " + state.String()})
		return
	}
	v.send([]byte(`{"status":"ready"}` + "\n"))
}

// send makes the answer a JSON document.
func (v *visit) send(body []byte) {
	v.Status, v.Type, v.Out = http.StatusOK, jsonType, append(v.Out[:0], body...)
}

// index is what GET / answers: enough to find one's way in the first minutes.
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

// index lists what can be called.
func (v *visit) index() {
	list := index{Node: v.node.ID(), State: v.node.State().String(), Call: "POST a JSON object to an action's path",
		Health: "/health", Ready: "/ready", API: "/$api", Actions: []indexAction{}}
	for _, a := range v.node.Actions() {
		if a.Visibility != sabir.Public {
			continue
		}
		for _, d := range v.doorsOf(a) {
			entry := indexAction{Name: a.Name, Path: d.prefix + actionPath(a.Name), Stream: a.Stream, Description: a.Description}
			for _, r := range a.Routes {
				entry.Routes = append(entry.Routes, r.Method+" "+d.prefix+r.Pattern)
			}
			list.Actions = append(list.Actions, entry)
		}
	}
	body, err := stdjson.MarshalIndent(list, "", "  ") // people read it
	if err != nil {
		v.fail(sabir.NewError(sabir.Internal, sabir.ErrBadOutput.Name, internalMessage(v.ID)))
		return
	}
	v.send(append(body, '\n'))
}

// describe answers with the description that clients and documents are generated from.
func (v *visit) describe() {
	body, err := json.Append(nil, v.api())
	if err != nil {
		v.node.Log().Error("the description of the actions cannot be written as JSON", "request", v.ID, "reason", err)
		v.fail(sabir.NewError(sabir.Internal, sabir.ErrBadOutput.Name, internalMessage(v.ID)))
		return
	}
	v.send(body)
}
