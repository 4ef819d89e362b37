package openapi

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/introspect"
)

const problemType = "application/problem+json"

// answer is a problem that calls of any action can end with.
type answer struct {
	component string // of the response
	status    int
	name      string // of the error that it usually is
	code      string
	when      string
	retryable bool
	message   string // of its example
}

// answers lists the errors with which every call can end, by status.
var answers = []answer{
	{"BadInput", 400, "BadInput", "InvalidArgument", "The input is no JSON or does not fit the action, or a parameter or a header of the call is wrong.", false, "age: want a number, got a string"},
	{"Unauthenticated", 401, "BadKey", "Unauthenticated", "The caller did not say who they are, or not in a way that is accepted.", false, "this API wants a key"},
	{"PermissionDenied", 403, "PermissionDenied", "PermissionDenied", "The caller is known and may not do this, or a browser asks for a page of another site.", false, "the caller has none of the roles that this action wants"},
	{"NotFound", 404, "ActionNotFound", "NotFound", "There is no such action here, or not the thing that was asked for.", false, "there is no action of this name"},
	{"VersionMismatch", 412, "VersionMismatch", "FailedPrecondition", "Another version is there than If-Match or If-None-Match names. Nothing was changed.", false, "another version is there than the one that the request was made for"},
	{"InputTooLarge", 413, "InputTooLarge", "InvalidArgument", "The body is larger than the server takes.", false, "the body is larger than the limit of 1048576 bytes"},
	{"UnsupportedMediaType", 415, "UnsupportedMediaType", "InvalidArgument", "The body is of a type that is not taken here.", false, "want application/json"},
	{"ValidationFailed", 422, "ValidationFailed", "InvalidArgument", "Fields of the input break their rules; `data` lists every one.", false, "the input is not valid: name: name is a required field"},
	{"TooManyRequests", 429, "RateLimited", "ResourceExhausted", "A limit was reached.", true, "too many calls; try again in a second"},
	{"Failed", 500, "HandlerFailed", "Unknown", "The service failed. Its log tells more under the request's id.", false, "internal error; the node's log tells more under request 6f9f2a"},
	{"Unavailable", 503, "ServiceUnavailable", "Unavailable", "The service is not reachable now.", true, "the service is not available now"},
	{"TimedOut", 504, "DeadlineExceeded", "DeadlineExceeded", "The time was up. The work may still have been done.", false, "the deadline passed before the action answered"},
}

// responses returns the responses of one form of an action, by status.
func (d *document) responses(f form) object {
	list := object{}
	outcomes := slices.Clone(f.Usual())
	slices.SortFunc(outcomes, func(a, b api.Status) int { return a.Status - b.Status })
	for _, s := range outcomes {
		list.add(strconv.Itoa(s.Status), d.success(f, s))
	}
	if f.conditional() && !slices.ContainsFunc(outcomes, func(s api.Status) bool { return s.Status == http.StatusNotModified }) {
		list.add("304", d.shared("responses", "NotModified"))
	}
	declared := map[int][]api.Error{}
	var statuses []int
	for _, e := range f.Errors {
		if e.Status >= 400 && e.Status <= 599 {
			declared[e.Status] = append(declared[e.Status], e)
			statuses = append(statuses, e.Status)
		}
	}
	for _, a := range answers {
		if d.comes(f, a.status) {
			statuses = append(statuses, a.status)
		}
	}
	slices.Sort(statuses)
	for _, status := range slices.Compact(statuses) {
		key := strconv.Itoa(status)
		if errors := declared[status]; len(errors) > 0 {
			list.add(key, d.declared(f, status, errors))
			continue
		}
		i := slices.IndexFunc(answers, func(a answer) bool { return a.status == status })
		list.add(key, d.shared("responses", answers[i].component))
	}
	list.add("default", d.shared("responses", "Problem"))
	return list
}

// comes reports whether calls of a form can end with one of the answers.
func (d *document) comes(f form, status int) bool {
	switch status {
	case 401, 403:
		return len(f.Auth) > 0
	case 412:
		return f.Versioned()
	case 413, 415:
		return f.body != nil
	case 422:
		return f.In != nil
	}
	return true
}

// success is the answer of a call that went well, with one of the action's statuses.
func (d *document) success(f form, s api.Status) object {
	headers := object{{"X-Request-Id", d.shared("headers", "RequestId")}}
	if f.cached() {
		headers.add("ETag", d.shared("headers", "ETag"))
		headers.add("Cache-Control", d.shared("headers", "CacheControl"))
	}
	if f.readable() && d.api.Pages(f.Action) {
		headers.add("Link", d.shared("headers", "Link"))
	}
	for _, name := range s.Headers {
		switch known := http.CanonicalHeaderKey(name); {
		case headers.get(name) != nil || known == "Etag" && f.cached():
			continue
		case known == "Etag":
			headers.add("ETag", d.shared("headers", "ETag"))
			continue
		}
		headers.add(name, object{{"schema", object{{"type", "string"}}}})
	}
	says := d.successSays(f)
	if api.Empty(s.Status) {
		return object{{"description", http.StatusText(s.Status) + "."}, {"headers", headers}}
	}
	if len(f.Statuses) > 1 {
		says = http.StatusText(s.Status) + ". " + says
	}
	return object{{"description", says}, {"headers", headers}, {"content", d.successContent(f)}}
}

func (d *document) successSays(f form) string {
	switch {
	case many(f, d.api):
		return "The values of the stream."
	case f.Out == nil:
		return "It is done."
	}
	if s := resolved(d.api, f.Out); s != nil && s.Description != "" {
		return s.Description
	}
	return "The output."
}

// many reports whether an answer is a stream: of values, or of the bytes of a file.
func many(f form, of api.API) bool {
	return f.Stream && (f.Shape != introspect.ClientStream || raw(of, f.Out))
}

func (d *document) successContent(f form) object {
	output := object{}
	if f.Out == nil {
		output.add("schema", object{{"type", "object"}, {"maxProperties", 0}})
	} else {
		output.add("schema", d.schema(f.Out))
	}
	var examples object
	for i, e := range f.Examples {
		if len(e.Out) > 0 {
			examples.add(exampleName(i, e), object{{"value", e.Out}})
		}
	}
	if len(examples) > 0 {
		output.add("examples", examples)
	}
	if !many(f, d.api) {
		return object{{"application/json", output}}
	}
	if raw(d.api, f.Out) { // its other forms are for streams of pieces, and generators would have clients ask for one of these
		return object{{"application/octet-stream", object{{"schema", file()}}}}
	}
	content := object{}
	content.add("text/event-stream", object{{"schema", object{{"type", "string"},
		{"description", "Server-sent events; the `data` of each is one value as JSON, as `x-stream` describes it."}}}})
	content.add("application/x-ndjson", object{{"schema", object{{"type", "string"},
		{"description", "Values, each as JSON in a line of its own."}}}})
	if f.Shape == "" {
		content.add("application/json", output)
	}
	return content
}

// file is the schema of a file as it is. For OpenAPI 3.1 {} would do, with a contentMediaType; generators of clients make a file of
// this form, which was that of OpenAPI 3.0, and a value of any kind of the other.
func file() object { return object{{"type", "string"}, {"format", "binary"}} }

// declared is the answer of a status for which an action has errors of its own: one of them, or what every call of that
// status is. At most one fits, by its type; but generated clients do not look at constants, and with "oneOf" they refuse an answer of
// which two forms may be, so that the error would be lost.
func (d *document) declared(f form, status int, errors []api.Error) object {
	says, types := "", []any{}
	forms := []any{}
	for _, e := range errors {
		if slices.Contains(types, any(errorType(e.Name))) {
			continue
		}
		types = append(types, errorType(e.Name))
		forms = append(forms, ref("schemas", d.errorSchema(e)))
		if says != "" {
			says += "\n"
		}
		says += "`" + e.Name + "`"
		if e.Description != "" {
			says += ": " + e.Description
		}
	}
	other := d.problem
	if status == 422 {
		other = d.invalid
	}
	forms = append(forms, object{{"title", "Any other problem of this status"}, {"allOf", []any{ref("schemas", other)}},
		{"properties", object{{"type", object{{"not", object{{"enum", types}}}}}}}})
	content := object{{problemType, object{{"schema", object{{"anyOf", forms}}}}}}
	return object{{"description", says}, {"headers", d.problemHeaders(status)}, {"content", content}}
}

func (d *document) problemHeaders(status int) object {
	headers := object{{"X-Request-Id", d.shared("headers", "RequestId")}}
	if status == 429 || status == 503 {
		headers.add("Retry-After", d.shared("headers", "RetryAfter"))
	}
	return headers
}

// sharedResponses are the components of those that an operation refers to.
func (d *document) sharedResponses() object {
	var list object
	for _, a := range answers {
		if !d.used["responses/"+a.component] {
			continue
		}
		schema, data := d.problem, any(nil)
		if a.status == 422 {
			schema = d.invalid
			data = []any{object{{"path", "name"}, {"pointer", "/name"}, {"rule", "required"}, {"value", ""}, {"message", "name is a required field"}}}
		}
		media := object{{"schema", ref("schemas", schema)}, {"example", exampleProblem(a, data)}}
		list.add(d.sharedName(a.component), object{{"description", a.when}, {"headers", d.problemHeaders(a.status)}, {"content", object{{problemType, media}}}})
	}
	if d.used["responses/NotModified"] {
		list.add(d.sharedName("NotModified"), object{{"description", "The answer that the caller has kept is still right."},
			{"headers", object{{"ETag", d.shared("headers", "ETag")}, {"Cache-Control", d.shared("headers", "CacheControl")}}}})
	}
	if d.used["responses/Problem"] {
		list.add(d.sharedName("Problem"), object{{"description", "Any other problem."}, {"headers", d.problemHeaders(0)},
			{"content", object{{problemType, object{{"schema", ref("schemas", d.problem)}}}}}})
	}
	return list
}
