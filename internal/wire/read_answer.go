package wire

// answer is a reply or an error to a call of this side.
type answer struct {
	id      uint32
	kind    kind
	flags   uint8
	body    []byte
	pairs   []Pair
	large   []byte // the buffer of body, where it was put together
	call    *Call
	refusal error // instead of a body
}

// answer notes a reply or an error, or the first part of a reply.
func (r *reader) answer(h header, body []byte) error {
	in := fields{left: body}
	pairs, err := in.pairs(h.flags)
	if err != nil {
		return err
	}
	if h.flags&flagMore == 0 {
		r.batch.answers = append(r.batch.answers, answer{id: h.id, kind: h.kind, flags: h.flags, body: in.left, pairs: pairs})
		return nil
	}
	total := in.number(maxInt32)
	if in.bad || h.kind != kindReply {
		return protocolError("the first part of a reply cannot be read")
	}
	r.link.mu.Lock()
	s, err := r.link.find(h.id)
	r.link.mu.Unlock()
	if err != nil {
		return err
	}
	if s == nil {
		r.link.in.strays.Add(1)
		return nil // and its chunks, which belong to nothing
	}
	a := &assembly{key: partKey{flagYours, h.id}, total: total, flags: h.flags, pairs: pairs}
	if err := r.begin(a, in.left); err == errTooMuchAtOnce {
		refusal := r.link.refuseLarge(total)
		r.batch.answers = append(r.batch.answers, answer{id: h.id, refusal: refusal})
		return nil
	} else if err != nil {
		return err
	}
	return r.partCame(a, h.flags)
}

// finishAnswers takes all calls of a batch out of their entries under one lock, and then copies the answers and wakes the
// callers without it.
func (r *reader) finishAnswers() error {
	l, answers := r.link, r.batch.answers
	var err error
	l.mu.Lock()
	for i := range answers {
		a := &answers[i]
		s, wrong := l.find(a.id)
		if wrong != nil {
			err = wrong
		} else if s == nil {
			l.in.strays.Add(1)
		} else {
			if a.call = s.call; a.call == nil {
				l.in.strays.Add(1)
			}
			l.release(a.id)
		}
	}
	l.mu.Unlock()
	for i := range answers {
		a := &answers[i]
		if c := a.call; c != nil {
			if wrong := r.fill(c, a); wrong != nil {
				c.err, err = wrong, wrong
			}
			c.done <- struct{}{}
		} else {
			freeLarge(a.large)
		}
		*a = answer{}
	}
	r.batch.answers = answers[:0]
	return err
}

// fill sets the result of a call.
func (r *reader) fill(c *Call, a *answer) (err error) {
	if a.refusal != nil {
		c.err = a.refusal
		return nil
	}
	c.pairs = a.pairs
	if a.kind == kindError {
		f, err := parseFailure(a.body)
		if err == nil {
			c.err = f
		}
		return err
	}
	if c.schema, c.reply, err = r.value(a.body); err != nil {
		return err
	}
	c.compressed = a.flags&flagCompressed != 0
	if c.large = a.large; a.large == nil {
		c.small = append(c.small[:0], c.reply...)
		c.reply = c.small
	}
	return nil
}
