package membership

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sabir-go/sabir/internal/identity"
)

// A Catalog lists what a node offers: its actions, streams and event handlers. Nodes send it to each other as JSON.
type Catalog struct {
	Node     string    `json:"node"`               // id
	Instance uint64    `json:"instance,omitempty"` // Member.Instance: one run of the node
	Version  uint64    `json:"version"`            // grows with each change in one run of the node
	Services []Service `json:"services,omitempty"`
	Waiting  []Waiting `json:"waiting,omitempty"` // services that have not started: nobody can call them

	Decisions []Decision `json:"decisions,omitempty"` // of operators, that the node knows: those of other nodes and of names too
	Place     *Place     `json:"place,omitempty"`     // where it changed while the node ran: it is another than the handshake told

	// Of a difference, see Since: the version that it is to, and the services of that which are not offered any more. Services has those
	// that came or changed; Waiting, Decisions and Place are as they are now. A whole catalog has neither.
	Base uint64       `json:"base,omitempty"`
	Gone []ServiceKey `json:"gone,omitempty"`

	size int // bytes that it was read from
}

// Waiting is a service of a node that waits for services of others before it starts.
type Waiting struct {
	Name  string   `json:"name"`  // full name
	Needs []string `json:"needs"` // the services that are missing
}

// Service is a service of a node.
type Service struct {
	Name        string         `json:"name"`                // without version: "users"
	Version     int            `json:"version,omitempty"`   // 0 for none
	Preferred   bool           `json:"preferred,omitempty"` // names without a version reach this version
	Group       string         `json:"group,omitempty"`
	Description string         `json:"description,omitempty"`
	Needs       []string       `json:"needs,omitempty"`
	Actions     []Action       `json:"actions,omitempty"`
	Events      []Subscription `json:"events,omitempty"`
	Unlisted    bool           `json:"unlisted,omitempty"` // of a client-only node: it is there for its events only
}

// Action is an action of a service. A node of a large cluster keeps tens of thousands of them, so what few actions have is behind a pointer.
type Action struct {
	Name        string `json:"name"` // full name: "v2.users.get"
	Description string `json:"description,omitempty"`
	*ActionForm        // nil for one without anything of it: read it by Form
	Inline      bool   `json:"inline,omitempty"`
	Stream      bool   `json:"stream,omitempty"`
	Idempotent  bool   `json:"idempotent,omitempty"`

	In  string `json:"in,omitempty"`  // Go type, for listings
	Out string `json:"out,omitempty"` // Go type, for listings
}

// ActionForm holds the properties that few actions have.
type ActionForm struct {
	Visibility string          `json:"visibility,omitempty"`
	Shape      string          `json:"shape,omitempty"`    // of a stream, see introspect.Shape
	Codecs     []string        `json:"codecs,omitempty"`   // formats for its values, the best first; nil for those of the nodes
	Routes     json.RawMessage `json:"routes,omitempty"`   // REST forms, as the nodes write them for each other
	Statuses   []int           `json:"statuses,omitempty"` // of HTTP, the usual one first; nil for 200
}

// Form returns the properties that few actions have; zero for one without them.
func (a *Action) Form() (f ActionForm) {
	if a.ActionForm != nil {
		f = *a.ActionForm
	}
	return f
}

// NewForm keeps what an action has of a form; it is nil for one that has nothing of it.
func NewForm(f ActionForm) *ActionForm {
	if f.Visibility == "" && f.Shape == "" && f.Codecs == nil && f.Routes == nil && f.Statuses == nil {
		return nil
	}
	return &f
}

// trim gives the service a list of actions of its own, which holds on to nothing else that came with it. Actions that follow each other share what they have in common.
func (s *Service) trim() {
	s.Actions = append(make([]Action, 0, len(s.Actions)), s.Actions...)
	for i := 1; i < len(s.Actions); i++ {
		a, last := &s.Actions[i], &s.Actions[i-1]
		if reflect.DeepEqual(a.ActionForm, last.ActionForm) {
			a.ActionForm = last.ActionForm
		}
		if a.In == last.In {
			a.In = last.In
		}
		if a.Out == last.Out {
			a.Out = last.Out
		}
	}
}

// Subscription is a pattern of event names that a service listens to.
type Subscription struct {
	Pattern string `json:"pattern"`
	Group   string `json:"group,omitempty"` // one member of a group gets an event that is emitted
	Watch   bool   `json:"watch,omitempty"` // emitters do not wait for it, and it may miss events
}

// Limits of a catalog. A node that offers more is refused as a whole, so that what a node is seen to offer is never a part
// of the truth.
const (
	MaxCatalog       = 4 << 20 // bytes
	MaxServices      = 4096
	MaxActions       = 16384 // in all services together
	MaxSubscriptions = 16384 // in all services together
	maxFields        = 1 << 18
	maxNeeds         = 256  // of a service
	maxName          = 256  // bytes of a name, a pattern, a group
	maxText          = 4096 // bytes of a description or a Go type
)

// ParseCatalog reads the catalog of another node and checks it: sizes, counts, names, and that nothing is in it twice. It
// keeps nothing of data. Unknown fields are ignored, so that newer nodes can add some.
func ParseCatalog(data []byte) (Catalog, error) {
	if len(data) > MaxCatalog {
		return Catalog{}, fmt.Errorf("catalog: %d bytes; %d is the limit", len(data), MaxCatalog)
	}
	// A value as short as "0," becomes a whole Service before it is found to be none. This bounds what a hostile catalog
	// takes to some tens of megabytes.
	if n := bytes.Count(data, []byte{','}); n > maxFields {
		return Catalog{}, fmt.Errorf("catalog: about %d fields; %d is the limit", n, maxFields)
	}
	c := Catalog{size: len(data)}
	if err := json.Unmarshal(data, &c); err != nil {
		return Catalog{}, fmt.Errorf("catalog: %w", err)
	}
	if err := c.Check(); err != nil {
		return Catalog{}, fmt.Errorf("catalog of node %.100q: %w", c.Node, err)
	}
	return c, nil
}

// Check returns what is wrong with a catalog: its id, its counts, names and texts, and what is in it twice.
func (c *Catalog) Check() error {
	if bad := identity.BadID(c.Node); bad != "" {
		return fmt.Errorf("its id %s", bad)
	}
	taken := Extent{Services: len(c.Waiting)}
	for i := range c.Services {
		taken = taken.Plus(c.Services[i].counts())
	}
	if err := taken.Check(); err != nil {
		return err
	}
	for _, w := range c.Waiting {
		if err := w.check(); err != nil {
			return fmt.Errorf("service %.100q, which waits: %w", w.Name, err)
		}
	}
	if len(c.Gone) > MaxServices {
		return fmt.Errorf("%d services are gone; %d is the limit", len(c.Gone), MaxServices)
	}
	if len(c.Decisions) > MaxDecisions+MaxEnded { // a receiver keeps no more of either kind than it may
		return fmt.Errorf("%d decisions of operators; %d is the limit", len(c.Decisions), MaxDecisions+MaxEnded)
	}
	for i := range c.Decisions {
		if err := c.Decisions[i].Check(); err != nil {
			return err
		}
	}
	if c.Place != nil {
		if err := CheckPlace(c.Place); err != nil {
			return err
		}
	}
	services := make(map[ServiceKey]bool, len(c.Services))
	names := make(map[string]bool, taken.Actions)
	for i := range c.Services {
		s := &c.Services[i]
		if err := s.check(); err != nil {
			return fmt.Errorf("service %.100q: %w", s.Name, err)
		}
		if services[s.key()] {
			return fmt.Errorf("service %.100q is there twice in version %d", s.Name, s.Version)
		}
		services[s.key()] = true
		for _, a := range s.Actions {
			if names[a.Name] {
				return fmt.Errorf("action %.100q is there twice", a.Name)
			}
			names[a.Name] = true
		}
	}
	return nil
}

func (w *Waiting) check() error {
	if len(w.Needs) > maxNeeds {
		return fmt.Errorf("needs %d services; %d is the limit", len(w.Needs), maxNeeds)
	}
	if err := checkNames("name", w.Name); err != nil {
		return err
	}
	return checkNames("needed service", w.Needs...)
}

func (s *Service) check() error {
	if s.Version < 0 {
		return fmt.Errorf("the version %d is negative", s.Version)
	}
	if err := (&Waiting{s.Name, s.Needs}).check(); err != nil {
		return err
	}
	if err := checkTexts(s.Group, s.Description); err != nil {
		return err
	}
	for i := range s.Actions {
		a := &s.Actions[i]
		if err := checkNames("action", a.Name); err != nil {
			return err
		}
		form := a.Form()
		if err := checkTexts(a.Description, form.Visibility, a.In, a.Out, string(form.Routes)); err != nil {
			return fmt.Errorf("action %.100q: %w", a.Name, err)
		}
	}
	for _, e := range s.Events {
		if err := checkNames("event pattern", e.Pattern); err != nil {
			return err
		}
		if err := checkTexts(e.Group); err != nil {
			return fmt.Errorf("event pattern %.100q: %w", e.Pattern, err)
		}
	}
	return nil
}

// checkNames is laxer than a node's rules for its own names, so that nodes with stricter and with laxer rules can be in one
// cluster. It refuses texts that could not be a name on any node.
func checkNames(what string, names ...string) error {
	for _, name := range names {
		switch {
		case name == "":
			return fmt.Errorf("the %s is empty", what)
		case len(name) > maxName:
			return fmt.Errorf("the %s %.40q… has %d bytes; %d is the limit", what, name, len(name), maxName)
		case !utf8.ValidString(name) || strings.ContainsFunc(name, notInNames):
			return fmt.Errorf("the %s %.100q has a space or another character that names do not have", what, name)
		}
	}
	return nil
}

func notInNames(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

func checkTexts(texts ...string) error {
	for _, text := range texts {
		if len(text) > maxText {
			return fmt.Errorf("the text %.40q… has %d bytes; %d is the limit", text, len(text), maxText)
		}
	}
	return nil
}
