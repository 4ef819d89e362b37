package actor

// Mirrors is the number of other nodes that get the values of an event.
func (e *Event[T]) Mirrors() int {
	e.hub.mu.Lock()
	defer e.hub.mu.Unlock()
	return len(e.hub.remote)
}
