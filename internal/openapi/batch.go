package openapi

import "strings"

// batchLimit is the number of calls that one batch may hold.
const batchLimit = 100

// batch adds the address that takes several calls in one request.
func (d *document) batch() {
	if d.api.Batch == "" {
		return
	}
	path, _ := d.paths.place(d.api.Batch)
	if !d.paths.free(path, "post") {
		return
	}
	d.untagged = true
	call := object{{"type", "object"}, {"properties", object{
		{"action", object{{"type", "string"}, {"description", "The name of the action, `service.action`."}}},
		{"input", object{{"description", "Its input; {} where it is left out."}}},
	}}, {"required", []string{"action"}}}
	result := object{{"type", "object"}, {"properties", object{
		{"status", object{{"type", "integer"}, {"minimum", 200}, {"maximum", 599}, {"description", "What the call alone would have answered with."}}},
		{"output", object{{"description", "The output of a call that went well."}}},
		{"problem", object{{"description", "Why it did not."}, {"$ref", "#/components/schemas/" + d.problem}}},
		{"headers", object{{"type", "object"}, {"additionalProperties", object{{"type", "array"}, {"items", object{{"type", "string"}}}}},
			{"description", "The headers that the call alone would have been answered with, such as Retry-After, where the answer of the batch does not have them. Cookies are set by the answer of the batch."}}},
	}}, {"required", []string{"status"}}}
	op := object{{"tags", []string{otherTag}}, {"summary", "Several calls in one request"},
		{"description", "The answers come in the order of the calls, each with a status of its own. Calls run at the same time, so none may count on one before it. Cookies that the calls set are in the headers of the answer, in the order of the calls, the last one for each cookie. Streams cannot be opened so."},
		{"operationId", "batch"},
		{"parameters", []any{d.shared("parameters", "RequestId"), d.shared("parameters", "RequestTimeout")}},
		{"requestBody", object{{"required", true}, {"content", object{{"application/json", object{{"schema", object{{"type", "array"},
			{"items", call}, {"minItems", 1}, {"maxItems", batchLimit}}}}}}}}},
		{"responses", object{
			{"200", object{{"description", "An answer for each call."}, {"headers", object{{"X-Request-Id", d.shared("headers", "RequestId")}}},
				{"content", object{{"application/json", object{{"schema", object{{"type", "array"}, {"items", result}}}}}}}}},
			{"400", d.shared("responses", "BadInput")},
			{"413", d.shared("responses", "InputTooLarge")},
			{"415", d.shared("responses", "UnsupportedMediaType")},
			{"default", d.shared("responses", "Problem")}}},
		{"security", d.anyScheme()}}
	d.paths.add(path, "post", op)
}

// events adds the address where events can be listened to.
func (d *document) events() {
	if d.api.Events == nil || d.api.Events.Path == "" {
		return
	}
	path, _ := d.paths.place(d.api.Events.Path)
	if !d.paths.free(path, "get") {
		return
	}
	d.untagged = true
	allowed := "`" + strings.Join(d.api.Events.Patterns, "`, `") + "`"
	topic := object{{"name", "topic"}, {"in", "query"},
		{"description", "The events wanted, by name or pattern (`*` is one part of a name, `**` several). Allowed is what lies within " + allowed + "."},
		{"required", true}, {"style", "form"}, {"explode", true},
		{"schema", object{{"type", "array"}, {"items", object{{"type", "string"}}}, {"minItems", 1}}}}
	op := object{{"tags", []string{otherTag}}, {"summary", "Events as they happen"},
		{"description", "Server-sent events: `event:` is the event's name, `data:` is `{\"event\": …, \"payload\": …, \"node\": …}` with the node that emitted it, `\"broadcast\": true` where every handler gets it, and `\"groups\": […]` where its emitter chose these. The same address takes WebSocket connections of the subprotocol `sabir.v1`."},
		{"operationId", "events"},
		{"parameters", []any{topic, d.shared("parameters", "RequestId")}},
		{"responses", object{
			{"200", object{{"description", "The events, until the caller goes."}, {"content", object{{"text/event-stream", object{{"schema", object{{"type", "string"}}}}}}}}},
			{"400", d.shared("responses", "BadInput")},
			{"default", d.shared("responses", "Problem")}}},
		{"security", d.anyScheme()},
		{"x-stream", object{{"out", heardEvent()}}}}
	d.paths.add(path, "get", op)
}

// heardEvent is the schema of an event that a caller listens to.
func heardEvent() object {
	text := object{{"type", "string"}}
	return object{{"type", "object"}, {"required", []string{"event"}}, {"properties", object{
		{"event", text}, {"payload", object{}}, {"node", text}, {"broadcast", object{{"type", "boolean"}}},
		{"groups", object{{"type", "array"}, {"items", text}}}}}}
}

// anyScheme is the security requirement of an address without an action of its own. Each call in it has its own, so no caller
// need authenticate, but may in each of the ways.
func (d *document) anyScheme() []any {
	list := []any{}
	for _, name := range d.sortedSchemes() {
		list = append(list, object{{name, []string{}}})
	}
	if len(list) > 0 {
		list = append(list, object{})
	}
	return list
}
