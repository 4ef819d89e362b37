package membership

// Balancer picks which candidate gets a call. Make one for each action: its state is that action's.
//
// Pick's among is never empty and has no nil; the balancer neither keeps nor changes it. key is what calls are kept
// together by, "" for none; most balancers pass it by. Pick may be called by many goroutines at once. It allocates nothing,
// but for Nearest when among holds others than at the last call.
type Balancer interface {
	Pick(among []*Candidate, key string) *Candidate
}
