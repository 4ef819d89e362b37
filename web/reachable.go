package web

import (
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/introspect"
)

// Reachable lists what the server answers, and to whom: the output of $node.http. Other nodes are asked for the roles of those of their
// actions that are forwarded; where they do not answer, the callers are said to be unknown.
func (s *server) Reachable() []introspect.Reachable {
	var list []introspect.Reachable
	root := &s.settings.root
	add := func(method, path, callers string) {
		list = append(list, introspect.Reachable{Method: method, Path: path, Callers: callers})
	}
	for path := range s.ownPages {
		callers := s.admitted(root)
		if path == "/health" || path == "/ready" {
			callers = everyone
		}
		add(http.MethodGet, path, callers)
	}
	for _, m := range s.mounts {
		callers := "whom the handler admits"
		if !m.public {
			callers = s.admitted(s.groupOf(m.prefix))
		}
		add("*", strings.TrimSuffix(m.prefix, "/")+"/*", callers)
	}
	for _, e := range s.settings.events {
		callers := s.admitted(root)
		if e.role != "" {
			callers = roles(e.role)
		}
		add(http.MethodGet, eventsPath+"?event="+strings.Join(e.patterns, ","), callers)
	}
	for _, g := range s.settings.routeGroups() {
		add(http.MethodPost, g.prefix+batchPath, s.admitted(g)+", for the actions that each may call")
	}
	for path, to := range s.tables.get().calls {
		if to.action != nil {
			list = append(list, s.reachable(http.MethodPost, path, to.routeGroup, to.action))
		}
	}
	for _, a := range s.node.Actions() {
		if !s.offers(a) || isOperatorAction(a) {
			continue
		}
		for _, g := range s.groupsOf(a) {
			for _, r := range a.Routes {
				list = append(list, s.reachable(r.Method, g.prefix+r.Pattern, g, a))
			}
		}
	}
	sort.Slice(list, func(i, j int) bool { // slices.SortFunc takes 20 KB of the program for each struct
		return list[i].Path+" "+list[i].Method < list[j].Path+" "+list[j].Method
	})
	return list
}

// reachable describes one address of an action.
func (s *server) reachable(method, path string, g *routeGroup, a *sabir.Action) introspect.Reachable {
	r := introspect.Reachable{Method: method, Path: path, Action: a.Name, Forwarded: a.Remote, Callers: s.admitted(g)}
	if isOperatorAction(a) {
		r.Callers = s.operatorCallers()
		return r
	}
	noted, guarded, known := s.rolesOf(a)
	switch {
	case !known:
		r.Callers += ", and what its node asks for, which does not answer now"
	case len(noted) > 0:
		r.Callers = roles(noted...)
	case guarded:
		r.Callers = signedIn
	}
	return r
}

// rolesOf returns what auth.Require asks for of the callers of an action: guarded without roles is that they are signed in. known is false where the
// node of the action does not say.
func (s *server) rolesOf(a *sabir.Action) (roles []string, guarded, known bool) {
	if !a.Remote {
		roles, guarded = a.Annotation(principal.ScopesKey).([]string)
		return roles, guarded, true
	}
	d, known := s.fetchDescription(a)
	roles, guarded = d.Notes[fmt.Sprint(principal.ScopesKey)]
	return roles, guarded, known
}

const (
	everyone = "everyone"
	signedIn = "who is signed in"
)

func roles(names ...string) string { return "role " + strings.Join(names, " or ") }

// admitted describes the callers whom a group lets in to what has no rule of its own.
func (s *server) admitted(g *routeGroup) string {
	switch {
	case g.guarded() && s.config.Keys.None():
		return signedIn
	case g.guarded():
		return signedIn + ", or holds gateway.Key"
	case !s.config.Keys.None() && !g.anonymous:
		return "who holds gateway.Key"
	case httpaccess.DemandsCertificates(s.config.TLS):
		return "who has a certificate"
	case s.onlyLocal:
		return "programs on this machine"
	}
	return everyone
}

// logServed says at the start what is reachable, and by whom. Where services wait for those of other nodes it says that too, and what is reachable once
// more when they have started.
func (s *server) logServed() {
	var waiting, waits []string
	for _, d := range s.node.Info().Unmet {
		if !s.runs(d.Service) {
			waiting, waits = append(waiting, d.Service), append(waits, d.Service+" depends on "+d.On)
		}
	}
	s.logReachable(waits)
	if waiting != nil {
		go s.logLater(waiting)
		return
	}
	s.logUnreadable()
}

// logLater says what is reachable when all of these services have started.
func (s *server) logLater(waiting []string) {
	for _, service := range waiting {
		for changed := s.node.Changed(); !s.runs(service); changed = s.node.Changed() {
			select {
			case <-changed:
			case <-s.served:
				return
			}
		}
	}
	s.logReachable(nil)
	s.logUnreadable()
}

// runs reports whether the node has started one of its services.
func (s *server) runs(service string) bool {
	for _, one := range s.node.Services() {
		if one.Name == service && one.Node == s.node.ID() {
			return true
		}
	}
	return false
}

// logReachable logs what is reachable now. Of actions of other nodes, which come and go, it has the patterns only.
func (s *server) logReachable(waits []string) {
	count := map[string]int{}
	for _, a := range s.node.Actions() {
		if !s.offers(a) || a.Remote {
			continue
		}
		for _, g := range s.groupsOf(a) {
			count[s.reachable("", "", g, a).Callers]++
		}
	}
	var callers []string
	for who, n := range count {
		callers = append(callers, fmt.Sprintf("%d for %s", n, who))
	}
	slices.Sort(callers)
	if callers == nil {
		callers = []string{"none"}
	}
	attrs := []any{"node", s.node.ID(), "address", s.HTTPAddr(), "actions", strings.Join(callers, "; ")}
	if waits != nil {
		attrs = append(attrs, "waiting", strings.Join(waits, "; "))
	}
	if len(s.settings.forward) > 0 {
		attrs = append(attrs, "forwarded", strings.Join(s.settings.forward, ", "))
	}
	for _, e := range s.settings.events {
		attrs = append(attrs, "events for "+map[bool]string{true: s.admitted(&s.settings.root), false: roles(e.role)}[e.role == ""], strings.Join(e.patterns, ", "))
	}
	for _, m := range s.mounts {
		attrs = append(attrs, "mounted", m.prefix)
	}
	s.node.Log().Info("http serves", attrs...)
}
