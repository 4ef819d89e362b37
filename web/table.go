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
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/bind"
	"github.com/sabir-go/sabir/internal/httpcache"
	"github.com/sabir-go/sabir/internal/protocol"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/web/exchange"
)

// target is the destination of a method and a path.
type target struct {
	routeGroup *routeGroup
	path       string                // pattern
	action     *sabir.Action         // wrapped in the group's middlewares; nil for what is no action
	rest       bool                  // a REST form
	binder     *bind.Binder          // of a REST form; nil where the input is the body
	names      []string              // of the path's parameters
	get        bool                  // a REST form that only reads
	page       func(*requestContext) // of the server itself; nil for an action
	protocol   protocol.Protocol     // which answers at the path; nil for HTTP's own form
	chain      []exchange.Filter
	needsKeep  bool // the steps show requests to filters
	operators  bool // it exists for operators only, which the last filter of chain sees to
	limit      time.Duration
	body       int64
}

// Action is the called action, for filters; nil for a page of the server.
func (t *target) Action() *sabir.Action { return t.action }

// hasHead reports whether HEAD finds what GET does. A stream of values has to be opened to know anything about its answer.
func (t *target) hasHead() bool {
	return t.action == nil || !t.action.Stream || t.action.OutputsBytes()
}

// table is the routing table of the HTTP gateway at one moment.
type table struct {
	changed <-chan struct{}    // closed when there is more to know
	calls   map[string]*target // POST, by path
	folders map[string]bool    // the paths of services, above those of their actions
	rest    bind.Router[*target]

	protocols map[string]*target // of other protocols, by path

	description describedTable // made when it is first asked for
}

// tables makes a new table when a request comes after the node's actions have changed.
type tables struct {
	server  *server
	current atomic.Pointer[table]
	making  sync.Mutex
}

// get returns the current table.
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
			return t // another goroutine has made it
		}
	}
	t, own, others := newTable(ts.server)
	for _, p := range append(own, others...) {
		ts.server.node.Log().Error("an action cannot be called over http", "node", ts.server.node.ID(), "error", p)
	}
	ts.current.Store(t)
	return t
}

// check returns what is wrong with the addresses of this node's actions.
func (ts *tables) check() error {
	ts.making.Lock()
	defer ts.making.Unlock()
	t, own, _ := newTable(ts.server)
	if len(own) > 0 {
		return errors.Join(own...)
	}
	ts.current.Store(t)
	return nil
}

// newTable makes the targets of all public actions. What is wrong with those of this node is in own; others has what is wrong with those of other
// nodes, which take no address from this node's.
func newTable(f *server) (t *table, own, others []error) {
	t = &table{changed: f.node.Changed(), calls: make(map[string]*target), folders: make(map[string]bool), protocols: make(map[string]*target)}
	for _, d := range f.settings.routeGroups() {
		t.calls[d.prefix+batchPath] = &target{routeGroup: d, path: d.prefix + batchPath, page: (*requestContext).batch, chain: d.chain, needsKeep: d.needsKeep, limit: d.timeout, body: d.body}
	}
	var offered []*sabir.Action
	for _, remote := range []bool{false, true} {
		for _, a := range f.node.Actions() {
			if a.Remote != remote || !f.offers(a) {
				continue
			}
			if !isOperatorAction(a) {
				offered = append(offered, a)
			}
			for _, d := range f.groupsOf(a) {
				if err := t.add(f, d, a); err != nil && remote {
					others = append(others, err)
				} else if err != nil {
					own = append(own, err)
				}
			}
		}
	}
	hidden := t.hidden(f, offered)
	for _, a := range f.node.Absent() { // which answer that they are not available now
		if !f.offers(a) {
			continue
		}
		for _, d := range f.groupsOf(a) {
			_ = t.add(f, d, a) // an address that it cannot have was reported when it was there, or is another's by now
		}
	}
	for _, p := range f.settings.protocols {
		if err := t.addProtocol(f, p, offered); err != nil {
			others = append(others, err)
		}
	}
	t.reserve(f)
	return t, append(own, hidden...), others
}

// hidden returns an error for each REST form of this node's actions that no request reaches, because calls have its address and come first.
func (t *table) hidden(f *server, offered []*sabir.Action) (errs []error) {
	for _, a := range offered {
		if a.Remote {
			continue
		}
		for _, d := range f.groupsOf(a) {
			for _, r := range a.Routes {
				call := t.calls[d.prefix+r.Pattern]
				switch {
				case r.Method != http.MethodPost || call == nil:
				case call.action == nil:
					errs = append(errs, fmt.Errorf("action %s: batches of calls have the address POST %s; give the route another path", a.Name, call.path))
				case call.action.Name != a.Name:
					errs = append(errs, fmt.Errorf("action %s: calls of action %s have the address POST %s; give the route another path", a.Name, call.action.Name, call.path))
				case !r.Body || len(r.Params) > 0 || len(r.Form) > 0:
					errs = append(errs, fmt.Errorf("action %s: its calls have the address POST %s, where all fields come from the body; give the route another path", a.Name, call.path))
				}
			}
		}
	}
	return errs
}

// reserved stands in the REST forms for addresses that are not those of actions.
var reserved = new(target)

// reserve keeps the addresses of the server itself, of mounted handlers and of other protocols from REST forms that have a parameter there: text
// goes before a parameter. A REST form with the same text has been added, and stays.
func (t *table) reserve(f *server) {
	for path := range f.ownPages {
		t.reservePath(http.MethodGet, path)
	}
	if len(f.settings.events) > 0 {
		t.reservePath(http.MethodGet, eventsPath)
	}
	for path := range t.protocols {
		t.reservePath(http.MethodGet, path)
		t.reservePath(http.MethodPost, path)
	}
	for _, m := range f.settings.mounts {
		if m.prefix == "/" {
			continue // it has what no REST form takes
		}
		for _, method := range t.rest.Methods() {
			_ = t.rest.Add(method, m.prefix, reserved)
			_ = t.rest.Add(method, m.prefix+"/{path...}", reserved)
		}
	}
}

// reservePath keeps one path from REST forms that have a parameter there.
func (t *table) reservePath(method, path string) {
	if _, _, taken := t.rest.Find(method, path, nil); taken {
		_ = t.rest.Add(method, path, reserved)
	}
}

// groupsOf returns the groups in which an action can be called.
func (s *server) groupsOf(a *sabir.Action) (list []*routeGroup) {
	if isOperatorAction(a) { // which tools look for at one address
		return []*routeGroup{&s.settings.root}
	}
	for _, d := range s.settings.groups {
		if d.takes(a) {
			list = append(list, d)
		}
	}
	if list == nil {
		list = append(list, &s.settings.root)
	}
	return list
}

// add adds an action to a group: at the path of its name, at the path without a version if it stands for its service, and at
// its REST routes.
func (t *table) add(f *server, d *routeGroup, a *sabir.Action) error {
	wrapped, err := a.With(d.middlewares...)
	if err != nil {
		return err
	}
	call := &target{routeGroup: d, path: d.prefix + actionPath(a.Name), action: wrapped, chain: d.chain, needsKeep: d.needsKeep, limit: d.timeout, body: d.body}
	t.calls[call.path] = call
	if isOperatorAction(a) {
		call.operators = true
		call.chain = append(slices.Clip(d.chain), f.operatorsOnly())
		return nil // it has no version and no REST form
	}
	t.folders[path.Dir(call.path)] = true
	if a.Version > 0 {
		_, short, _ := strings.Cut(a.Name, ".")
		if at := d.prefix + actionPath(short); f.node.Action(short) == a || t.calls[at] == nil && f.node.Action(short) == nil {
			t.calls[at] = call
			t.folders[path.Dir(at)] = true
		}
	}
	var errs []error
	for _, r := range a.Routes {
		errs = append(errs, t.addRoute(d, wrapped, r))
	}
	return errors.Join(errs...)
}

func (t *table) addRoute(d *routeGroup, a *sabir.Action, r route.Route) error {
	form := &target{routeGroup: d, path: d.prefix + r.Pattern, action: a, chain: d.chain, needsKeep: d.needsKeep, limit: d.timeout, body: d.body,
		rest: true, get: r.Method == http.MethodGet}
	if !r.Body || len(r.Params) > 0 || len(r.Form) > 0 {
		form.binder = bind.New(r, d.binding()...)
	}
	for _, p := range r.Params {
		if p.In == route.Path {
			form.names = append(form.names, p.Name)
		}
	}
	if form.get && a.Annotation(gateway.CacheNote) != nil {
		form.chain, form.needsKeep = append(slices.Clip(form.chain), exchange.Filter{Name: "cache", After: new(httpcache.Headers).After}), true
	}
	if err := t.rest.Add(r.Method, form.path, form); err != nil {
		if other, _, ok := t.rest.Find(r.Method, form.path, nil); ok && other.action.Name != a.Name {
			return fmt.Errorf("actions %s and %s: %w", other.action.Name, a.Name, err)
		}
		return fmt.Errorf("action %s: %w", a.Name, err)
	}
	return nil
}

// binding returns how strictly the group reads queries.
func (g *routeGroup) binding() []bind.Option {
	if g.strict {
		return []bind.Option{bind.RefuseUnknown()}
	}
	return nil
}

// find returns the target of a method and path, or nil, and the values of the path's parameters, appended to buffer.
func (t *table) find(method, path string, buffer []string) (to *target, params []string) {
	if method == http.MethodPost {
		if to = t.calls[path]; to != nil {
			return to, buffer
		}
		if strings.IndexByte(path, '%') >= 0 && strings.Contains(path, "%24") {
			// One spelling besides the plain one: shells and libraries like to write /$node as /%24node. Any other encoding,
			// above all of a slash, would give an action a second address that a proxy in front does not know.
			return t.calls[strings.ReplaceAll(path, "%24", "$")], buffer
		}
	}
	if to, params, ok := t.rest.Find(method, path, buffer); ok && to != reserved {
		return to, params
	}
	return nil, buffer
}

// allowed returns the methods that a path takes from an operator, or from anybody else; nil if there are none.
func (t *table) allowed(path string, operator bool) []string {
	list := t.rest.Allowed(path)
	if got, _ := t.find(http.MethodGet, path, nil); got != nil && !got.hasHead() {
		list = slices.DeleteFunc(list, func(method string) bool { return method == http.MethodHead })
	}
	if call := t.calls[strings.ReplaceAll(path, "%24", "$")]; call != nil && (operator || !call.operators) && !slices.Contains(list, http.MethodPost) {
		list = append(list, http.MethodPost)
	}
	return list
}

// maxActionName is more than the bytes of the longest full name of an action: a version, a service and an action of 200
// bytes each, with dots between them.
const maxActionName = 512

// actionPath turns "v2.users.get" into "/v2/users/get".
func actionPath(name string) string { return "/" + strings.ReplaceAll(name, ".", "/") }
