package dubbo

import "regexp"

// switchTo takes interfaces out of service, or back: those whose key or name the pattern of the argument matches as a whole, or all.
func (q *qos) switchTo(offline bool, arguments []string) string {
	pattern := ".*"
	if len(arguments) > 0 {
		pattern = arguments[0]
	}
	matches, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return "the pattern cannot be read: " + err.Error()
	}
	found, changed := false, false
	for _, e := range q.bridge.serve {
		for _, m := range e.interfaces {
			if matches.MatchString(m.serviceKey()) || matches.MatchString(m.name) {
				found = true
				changed = m.offline.Swap(offline) != offline || changed
			}
		}
	}
	if !found {
		return "service not found"
	}
	if changed {
		q.bridge.republish()
	}
	return "OK"
}

// republish enters in the registries what is served now: consumers see the node go, and come again with the rest. Those that have its address without a
// registry go on, as with Java's providers.
func (b *bridge) republish() {
	b.unregister()
	if err := b.register(); err != nil {
		b.node.Log().Error("what the node serves to Dubbo cannot be entered in its registries", "node", b.node.ID(), "error", err)
	}
}
