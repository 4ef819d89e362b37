package actor

import "context"

func (s *System) pushAway(to PID, l *letter) error { return s.refuse(l, ErrNoConnection) }
func (s *System) pushImportant(ctx context.Context, to PID, l *letter, by *Process) error {
	return s.refuse(l, ErrNoConnection)
}
func (s *System) killAway(PID) error                           { return ErrNoConnection }
func (s *System) linkAway(to, other PID) error                 { return ErrNoConnection }
func (s *System) unlinkAway(to, other PID)                     {}
func (s *System) watchAway(to PID, ref Ref, watcher PID) error { return ErrNoConnection }
func (s *System) unwatchAway(to PID, ref Ref, watcher PID)     {}
func (s *System) namedAway(n Name) (PID, error)                { return PID{}, ErrNoConnection }
func (s *System) aliasedAway(a Alias) (PID, error)             { return PID{}, ErrNoConnection }

func spawnAway[S, A any](s *System, by *Process, b *Behavior[S, A], args A, o spawning) (PID, error) {
	return PID{}, ErrNoConnection
}
