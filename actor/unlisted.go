package actor

// unlisted marks the behaviour of processes of the runtime itself, such as those that hand out events: they are neither counted
// nor listed.
func unlisted[S, A any](b *Behavior[S, A]) *Behavior[S, A] {
	b.d.unlisted = true
	return b
}

// listed is the processes that live, without those of the runtime.
func (s *System) listed() func(yield func(PID) bool) {
	return func(yield func(PID) bool) {
		for pid := range s.all() {
			at := s.table.find(pid.id)
			at.mu.Lock()
			show := at.behavior == nil || !at.behavior.unlisted
			at.mu.Unlock()
			if show && !yield(pid) {
				return
			}
		}
	}
}
