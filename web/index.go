package web

import (
	"encoding/json"
	"net/http"

	"github.com/sabir-go/sabir"
)

// index is what GET / answers: enough to find one's way in the first minutes.
type index struct {
	Node    string        `json:"node"`
	State   string        `json:"state"`
	Call    string        `json:"call"`
	Health  string        `json:"health"`
	Ready   string        `json:"ready"`
	Actions []indexAction `json:"actions"`
}

type indexAction struct {
	Name        string `json:"name"`
	Path        string `json:"path"`
	Description string `json:"description,omitempty"`
}

// index lists what can be called.
func (x *exchange) index() {
	list := index{Node: x.node.ID(), State: x.node.State().String(), Call: "POST a JSON object to an action's path",
		Health: "/health", Ready: "/ready", Actions: []indexAction{}}
	for _, a := range x.node.Actions() {
		if callable(a) && !a.Stream {
			list.Actions = append(list.Actions, indexAction{a.Name, actionPath(a.Name), a.Description})
		}
	}
	body, err := json.MarshalIndent(list, "", "  ") // people read it
	if err != nil {
		x.fail(sabir.NewError(sabir.Internal, sabir.ErrBadOutput.Name, internalMessage(x.id)))
		return
	}
	x.send(http.StatusOK, jsonType, append(body, '\n'))
}
