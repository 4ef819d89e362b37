package actor

import "sync"

// eventTable holds the topics of this node, and the mirrors of topics of other nodes that processes here subscribe to.
type eventTable struct {
	mu      sync.Mutex
	local   map[string]*hub
	mirrors map[Name]*mirror
}

func (t *eventTable) add(s *System, name string, h *hub) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, taken := t.local[name]; taken {
		return problem(ErrNameTaken, s.nodeName(), "there is a topic %q on this node", name)
	}
	if t.local == nil {
		t.local = make(map[string]*hub)
	}
	t.local[name] = h
	return nil
}

func (t *eventTable) remove(name string, h *hub) {
	t.mu.Lock()
	if t.local[name] == h {
		delete(t.local, name)
	}
	t.mu.Unlock()
}

// join gives a subscription to its source.
func (t *eventTable) join(s *System, sub *subscription) error {
	if sub.name.Node != "" {
		return t.joinMirror(s, sub)
	}
	h, err := t.find(s, sub.name.Name)
	if err != nil {
		return err
	}
	sub.to = h
	return h.join(sub)
}

func (t *eventTable) find(s *System, name string) (*hub, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h, ok := t.local[name]; ok {
		return h, nil
	}
	return nil, problem(errNoTopic, s.nodeName(), "%q", name)
}

// key is the name by which a topic is known here: without a node if it is of this one.
func (t *eventTable) key(s *System, n Name) Name {
	if n.Node == s.nodeName() {
		n.Node = ""
	}
	return n
}
