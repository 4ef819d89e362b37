package actor

// Mirrors is the number of other nodes that get the values of a topic.
func (e *Topic[T]) Mirrors() int {
	e.hub.mu.Lock()
	defer e.hub.mu.Unlock()
	return len(e.hub.remote)
}
