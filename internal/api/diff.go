package api

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/introspect"
)

// Change is one difference between two versions of an API.
type Change struct {
	Breaking bool   `json:"breaking"`          // callers written for the old version may fail with the new one
	Action   string `json:"action,omitempty"`  // full name; "" for what concerns them all
	Event    string `json:"event,omitempty"`   // name or pattern
	Channel  string `json:"channel,omitempty"` // name
	Where    string `json:"where,omitempty"`   // "in", "out", "errors/Name" or "payload", with the JSON Pointer of the member: "in/items/*/price"
	Text     string `json:"text"`              // a sentence that names the action, event or channel, and the member
}

// String is the sentence, marked where the change is breaking.
func (c Change) String() string {
	if c.Breaking {
		return "BREAKING " + c.Text
	}
	return "         " + c.Text
}

// Diff returns the changes for callers from one version of an API to another, action by action. Inputs may become wider and
// outputs may become narrower; the other way round is breaking. Descriptions, examples, and names of types do not count. Events and channels
// are compared where both have them: what is received is an input of those who send it, and what is sent an output for those who receive it.
//
// Two things are judged by what callers do with them: a member of an input that is not read any more is breaking, since what
// callers send with it is lost, and wider bounds of an output are not, since callers do not check them.
func Diff(before, after API) []Change {
	d := &differ{before: before, after: after}
	d.settings()
	now := byName(after)
	for _, a := range before.Actions {
		b, ok := now[a.Name]
		if !ok {
			d.name = a.Name
			d.breaking("", "is gone")
			continue
		}
		d.action(a, b)
	}
	was := byName(before)
	for _, b := range after.Actions {
		if _, ok := was[b.Name]; !ok {
			d.name = b.Name
			d.note("", "is new")
		}
	}
	d.messages()
	slices.SortStableFunc(d.changes, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Channel, b.Channel), strings.Compare(a.Event, b.Event), strings.Compare(a.Action, b.Action))
	})
	return d.changes
}

// Breaks reports whether one of the changes is breaking.
func Breaks(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Breaking })
}

func byName(a API) map[string]Action {
	names := make(map[string]Action, len(a.Actions))
	for _, action := range a.Actions {
		names[action.Name] = action
	}
	return names
}

type differ struct {
	before, after API
	name          string   // of the action, or what is said of a message; "" for none
	message       *Message // that is compared; nil while actions are
	changes       []Change
}

func (d *differ) breaking(where, format string, args ...any) { d.change(true, where, format, args...) }
func (d *differ) note(where, format string, args ...any)     { d.change(false, where, format, args...) }

func (d *differ) change(breaking bool, where, format string, args ...any) {
	text := fmt.Sprintf(format, args...) + "."
	switch {
	case where != "":
		text = d.name + ": " + place(where) + " " + text
	case d.name != "":
		text = d.name + " " + text
	}
	c := Change{Breaking: breaking, Where: where, Text: text}
	switch {
	case d.message == nil:
		c.Action = d.name
	case d.message.Kind == "channel":
		c.Channel = d.message.Name
	default:
		c.Event = d.message.Name
	}
	d.changes = append(d.changes, c)
}

// place is a place in words.
func place(where string) string {
	side, pointer, _ := strings.Cut(where, "/")
	what := "the input"
	switch side {
	case "out":
		what = "the output"
	case "payload":
		what = "the payload"
	case "errors":
		name, inner, _ := strings.Cut(pointer, "/")
		what, pointer = "the data of "+name, inner
	}
	if pointer == "" {
		return what
	}
	return what + "'s /" + pointer
}

// settings compares the settings that concern all actions, such as the prefix of addresses.
func (d *differ) settings() {
	if d.before.Prefix != d.after.Prefix {
		d.breaking("", "The prefix of all addresses was %q and is %q", d.before.Prefix, d.after.Prefix)
	}
	if d.before.Batch != d.after.Batch {
		d.change(d.before.Batch != "", "", "The address of batches was %q and is %q", d.before.Batch, d.after.Batch)
	}
	was, is := d.before.Events, d.after.Events
	switch {
	case was == nil && is != nil:
		d.note("", "Events can be listened to at %s", is.Path)
	case was != nil && is == nil:
		d.breaking("", "Events cannot be listened to any more")
	case was != nil && is != nil:
		if was.Path != is.Path {
			d.breaking("", "The address of events was %q and is %q", was.Path, is.Path)
		}
		for _, pattern := range missing(was.Patterns, is.Patterns) {
			d.breaking("", "Events %s cannot be listened to any more", pattern)
		}
		for _, pattern := range missing(is.Patterns, was.Patterns) {
			d.note("", "Events %s can be listened to", pattern)
		}
	}
}

// missing returns the elements of one list that the other does not have.
func missing(in, from []string) (list []string) {
	for _, s := range in {
		if !slices.Contains(from, s) {
			list = append(list, s)
		}
	}
	return list
}

func (d *differ) action(a, b Action) {
	d.name = a.Name
	if a.Path != b.Path {
		d.breaking("", "is called at %s instead of %s", b.Path, a.Path)
	}
	if a.Stream != b.Stream {
		d.breaking("", "is %s", map[bool]string{true: "a stream now", false: "no stream any more"}[b.Stream])
	}
	if a.Stream && b.Stream && a.Shape != b.Shape {
		d.breaking("", "%s now", shapeText(b.Shape))
	}
	if a.Idempotent && !b.Idempotent {
		d.breaking("", "may do harm when it runs twice, so it must not be tried again without a thought")
	} else if !a.Idempotent && b.Idempotent {
		d.note("", "does no harm when it runs twice")
	}
	if !a.Deprecated && b.Deprecated {
		d.note("", "is deprecated")
	}
	d.statuses(a.Usual(), b.Usual())
	d.routes(a.Routes, b.Routes)
	d.access(a, b)
	d.errors(a.Errors, b.Errors)
	d.whole("in", a.In, b.In)
	d.whole("out", a.Out, b.Out)
}

func shapeText(s Shape) string {
	switch s {
	case introspect.ServerStream:
		return "takes one value"
	case introspect.ClientStream:
		return "answers with one value"
	}
	return "has any number of values both ways"
}

// statuses compares those of answers that went well: one that callers do not expect may be a failure to them.
func (d *differ) statuses(before, after []Status) {
	numbers := func(list []Status) (texts []string) {
		for _, s := range list {
			texts = append(texts, strconv.Itoa(s.Status))
		}
		return texts
	}
	for _, one := range missing(numbers(after), numbers(before)) {
		d.breaking("", "may answer with the status %s", one)
	}
	for _, one := range missing(numbers(before), numbers(after)) {
		d.note("", "does not answer with the status %s any more", one)
	}
}

func (d *differ) routes(before, after []route.Route) {
	find := func(list []route.Route, r route.Route) (route.Route, bool) {
		i := slices.IndexFunc(list, func(other route.Route) bool {
			return other.Method == r.Method && shapeOf(other.Pattern) == shapeOf(r.Pattern)
		})
		if i < 0 {
			return route.Route{}, false
		}
		return list[i], true
	}
	for _, r := range before {
		now, ok := find(after, r)
		if !ok {
			d.breaking("", "cannot be reached with %s %s any more", r.Method, r.Pattern)
			continue
		}
		d.params(r, now)
	}
	for _, r := range after {
		if _, ok := find(before, r); !ok {
			d.note("", "can be reached with %s %s", r.Method, r.Pattern)
		}
	}
}

// shapeOf is a pattern without the names of its parameters, which callers do not see.
func shapeOf(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		switch {
		case strings.HasPrefix(part, "{") && strings.HasSuffix(part, "...}"):
			parts[i] = "{...}"
		case strings.HasPrefix(part, "{"):
			parts[i] = "{}"
		}
	}
	return strings.Join(parts, "/")
}

// params compares where the input's fields come from. Fields that come or go are compared as part of the input.
func (d *differ) params(before, after route.Route) {
	inPath := func(r route.Route) (fields []string) {
		for _, p := range r.Params {
			if p.In == route.Path {
				fields = append(fields, p.Field)
			}
		}
		return fields
	}
	what := before.Method + " " + before.Pattern
	if was, is := inPath(before), inPath(after); !slices.Equal(was, is) {
		d.breaking("", "takes from the path of %s the fields %s instead of %s", what, strings.Join(is, ", "), strings.Join(was, ", "))
	}
	source := func(r route.Route, field string) string {
		for _, p := range r.Params {
			if p.Field == field {
				return fmt.Sprintf("%s %q", p.In, p.Name)
			}
		}
		if r.Body {
			return "the body"
		}
		return "nowhere"
	}
	seen := make(map[string]bool)
	for _, p := range slices.Concat(before.Params, after.Params) {
		was, is := source(before, p.Field), source(after, p.Field)
		if p.In == route.Path || seen[p.Field] || was == is || was == "nowhere" || is == "nowhere" || strings.HasPrefix(was, "path") {
			continue
		}
		seen[p.Field] = true
		d.breaking("", "takes with %s the field %q from %s instead of %s", what, p.Field, is, was)
	}
}

// access compares which callers are allowed. Of the schemes and of the roles in a list a caller needs one; an empty list asks
// for none.
func (d *differ) access(a, b Action) {
	compare := func(before, after []string, demand, what string) {
		switch {
		case len(before) == 0 && len(after) > 0:
			d.breaking("", "demands %s %s", what, strings.Join(after, " or "))
		case len(before) > 0 && len(after) == 0:
			d.note("", "demands no %s any more", demand)
		default:
			for _, one := range missing(before, after) {
				d.breaking("", "does not take %s %s any more", what, one)
			}
			for _, one := range missing(after, before) {
				d.note("", "takes %s %s too", what, one)
			}
		}
	}
	compare(a.Auth, b.Auth, "authentication", "authentication by")
	compare(a.Scopes, b.Scopes, "role", "the role")
}

func (d *differ) errors(before, after []Error) {
	find := func(list []Error, name string) *Error {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
		return nil
	}
	for i := range before {
		was := &before[i]
		is := find(after, was.Name)
		if is == nil {
			d.note("", "does not end with the error %s any more", was.Name)
			continue
		}
		if was.Code != is.Code || was.Status != is.Status {
			d.breaking("", "ends with the error %s with code %s and status %d instead of %s and %d", was.Name, is.Code, is.Status, was.Code, was.Status)
		}
		d.whole("errors/"+was.Name, was.Data, is.Data)
	}
	for i := range after {
		if find(before, after[i].Name) == nil {
			d.note("", "may end with the error %s", after[i].Name)
		}
	}
}

// whole compares an input, an output or the data of an error.
func (d *differ) whole(where string, before, after *schema.Schema) {
	c := &comparison{differ: d, input: where == "in" || d.message != nil && !d.message.Sent, seen: make(map[[2]*schema.Schema]bool)}
	switch {
	case before == nil && after == nil:
	case before == nil:
		demands := c.input && !c.takesNothing(after)
		d.change(demands, where, "is new")
	case after == nil:
		d.breaking(where, "is gone")
	default:
		c.compare(where, before, after)
	}
}
