package web

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/schema/route"
	"github.com/sabir-go/sabir/web/bind"
	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/filter"
)

// target is what a method and a path lead to.
type target struct {
	door   *door
	path   string        // pattern
	action *sabir.Action // wrapped in the door's middlewares; nil for what is no action
	binder *bind.Binder  // of a REST form; nil where the input is the body
	get    bool          // a REST form that only reads
	page   func(*visit)  // of the face itself; nil for an action
	steps  []exchange.Filter
	shows  bool // the steps show requests to filters
	limit  time.Duration
	body   int64
}

// Action is for filters: what is called, or nil.
func (t *target) Action() *sabir.Action { return t.action }

// table is all that can be called over HTTP at one moment.
type table struct {
	changed <-chan struct{}    // closed when there is more to know
	calls   map[string]*target // POST, by path
	folders map[string]bool    // the paths of services, above those of their actions
	rest    bind.Router[*target]

	description description // made when it is first asked for
}

// tables makes a new table whenever the node's actions have changed and a request comes.
type tables struct {
	face    *face
	current atomic.Pointer[table]
	making  sync.Mutex
}

// get is the table of now.
func (ts *tables) get() *table {
	t := ts.current.Load()
	if t == nil {
		return ts.make()
	}
	select {
	case <-t.changed:
		return ts.make()
	default:
		return t
	}
}

func (ts *tables) make() *table {
	ts.making.Lock()
	defer ts.making.Unlock()
	if t := ts.current.Load(); t != nil {
		select {
		case <-t.changed:
		default:
			return t // somebody else has made it
		}
	}
	t, problems := newTable(ts.face)
	for _, p := range problems {
		ts.face.node.Log().Error("an action cannot be called over http", "node", ts.face.node.ID(), "error", p)
	}
	ts.current.Store(t)
	return t
}

// newTable makes the targets of all public actions.
func newTable(f *face) (t *table, problems []error) {
	t = &table{changed: f.node.Changed(), calls: make(map[string]*target), folders: make(map[string]bool)}
	for _, d := range f.settings.doors() {
		t.calls[d.prefix+batchPath] = &target{door: d, path: d.prefix + batchPath, page: (*visit).batch, steps: d.steps, shows: d.shows, limit: d.timeout, body: d.body}
	}
	for _, a := range f.node.Actions() {
		if a.Visibility != sabir.Public {
			continue
		}
		for _, d := range f.doorsOf(a) {
			if err := t.add(f, d, a); err != nil {
				problems = append(problems, err)
			}
		}
	}
	return t, problems
}

// ofTools tells whether the action is one of those by which nodes are looked after.
func ofTools(a *sabir.Action) bool { return strings.HasPrefix(a.Service, "$") }

// doorsOf is the doors that the action is reached through.
func (f *face) doorsOf(a *sabir.Action) (list []*door) {
	if ofTools(a) { // which ask nodes at one address
		if f.settings.open && f.config.Key == "" && len(f.settings.root.authenticators) == 0 {
			return nil // what a node tells and does for its operators is not for everybody
		}
		return []*door{&f.settings.tools}
	}
	for _, d := range f.settings.groups {
		if d.takes(a) {
			list = append(list, d)
		}
	}
	if list == nil {
		list = append(list, &f.settings.root)
	}
	return list
}

// add adds one action as it is reached through a door: the address of its name, that without a version if it stands for its
// service, and its REST forms.
func (t *table) add(f *face, d *door, a *sabir.Action) error {
	wrapped, err := a.Wrap(d.middlewares...)
	if err != nil {
		return err
	}
	call := &target{door: d, path: d.prefix + actionPath(a.Name), action: wrapped, steps: d.steps, shows: d.shows, limit: d.timeout, body: d.body}
	t.calls[call.path] = call
	t.folders[path.Dir(call.path)] = true
	if a.Version > 0 {
		if _, short, _ := strings.Cut(a.Name, "."); f.node.Action(short) == a {
			t.calls[d.prefix+actionPath(short)] = call
			t.folders[path.Dir(d.prefix+actionPath(short))] = true
		}
	}
	var errs []error
	for _, r := range a.Routes {
		errs = append(errs, t.addRoute(d, wrapped, r))
	}
	return errors.Join(errs...)
}

func (t *table) addRoute(d *door, a *sabir.Action, r route.Route) error {
	form := &target{door: d, path: d.prefix + r.Pattern, action: a, steps: d.steps, shows: d.shows, limit: d.timeout, body: d.body,
		get: r.Method == http.MethodGet}
	if !r.Body || len(r.Params) > 0 {
		form.binder = bind.New(r, d.binding()...)
	}
	if form.get && a.Noted(sabir.CacheNote) != nil {
		form.steps, form.shows = append(slices.Clip(form.steps), filter.Cache()), true
	}
	if err := t.rest.Add(r.Method, form.path, form); err != nil {
		return fmt.Errorf("action %s: %w", a.Name, err)
	}
	return nil
}

// binding is how strictly the door reads queries.
func (d *door) binding() []bind.Option {
	if d.strict {
		return []bind.Option{bind.RefuseUnknown()}
	}
	return nil
}

// find is what answers the method and path, or nil; params are the values of its pattern's names.
func (t *table) find(method, path string, room []string) (to *target, params []string) {
	if method == http.MethodPost {
		if to = t.calls[path]; to != nil {
			return to, room
		}
		if strings.IndexByte(path, '%') >= 0 && strings.Contains(path, "%24") {
			// One spelling besides the plain one: shells and libraries like to write /$node as /%24node. Any other encoding,
			// above all of a slash, would give an action a second address that a proxy in front does not know.
			return t.calls[strings.ReplaceAll(path, "%24", "$")], room
		}
	}
	if to, params, ok := t.rest.Find(method, path, room); ok {
		return to, params
	}
	return nil, room
}

// allowed is the methods that the path takes; nil for none.
func (t *table) allowed(path string) []string {
	list := t.rest.Allowed(path)
	if t.calls[strings.ReplaceAll(path, "%24", "$")] != nil && !slices.Contains(list, http.MethodPost) {
		list = append(list, http.MethodPost)
	}
	return list
}

// maxActionName is more than the bytes of the longest full name of an action: a version, a service and an action of 200
// bytes each, with dots between them.
const maxActionName = 512

// actionPath turns "v2.users.get" into "/v2/users/get".
func actionPath(name string) string { return "/" + strings.ReplaceAll(name, ".", "/") }
