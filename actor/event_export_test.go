package actor

// Mirrors is how many other nodes get the values of an event.
func (e *Event[T]) Mirrors() int {
	e.hub.mu.Lock()
	defer e.hub.mu.Unlock()
	return len(e.hub.away)
}
