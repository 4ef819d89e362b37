package actor

import "errors"

var errCut = errors.New("cut by the test")

// CutLink ends the link over which the system talks to another node, as a broken network would.
func (s *System) CutLink(node string) {
	if known, ok := s.away.byNode.Load(node); ok {
		known.(*session).link.Close(errCut)
	}
}

// Say posts to the system of another node what the test wants.
func (s *System) Say(node string, post []byte) {
	if known, ok := s.away.byNode.Load(node); ok {
		known.(*session).say(post)
	}
}
