package wire

// refuseLarge is the error for a value that is larger than this side accepts, alone or with others under way.
func (l *Link) refuseLarge(total int) *Failure {
	f := &Failure{Code: codeResourceExhausted, Name: NameMessageTooLarge, Node: l.config.Node}
	if total > l.config.Limits.Message {
		f.Message = "a value is larger than node " + l.config.Node + " accepts"
	} else {
		f.Message, f.Retryable = "node "+l.config.Node+" is receiving as many large values as it can hold", true
	}
	return f
}

// post hands a post to the owner.
func (r *reader) post(h header, body []byte) error {
	in := fields{left: body}
	topic := in.byte()
	if h.flags&flagMore == 0 {
		if in.bad {
			return protocolError("a post without a topic")
		}
		r.link.handler.Post(r.link, topic, in.left)
		return nil
	}
	a := &assembly{key: partKey{flagOfPost, h.id}, topic: topic, total: in.number(maxInt32), flags: h.flags}
	if in.bad {
		return protocolError("the first part of a post cannot be read")
	}
	if err := r.begin(a, in.left); err == errTooMuchAtOnce {
		r.link.in.dropped.Add(1)
		return nil
	} else if err != nil {
		return err
	}
	return r.partCame(a, h.flags)
}

// chunk continues a value. One that belongs to nothing is of a value that was refused or abandoned.
func (r *reader) chunk(h header, body []byte) error {
	a := r.parts[partKey{h.flags & flagsOf, h.id}]
	if a == nil {
		return nil
	}
	if len(a.buf)+len(body) > a.total {
		return protocolError("value %d is longer than it said", h.id)
	}
	a.make(len(body))
	a.buf = append(a.buf, body...)
	return r.partCame(a, h.flags)
}

// beginStraight takes the part of a chunk that was read already, and has the rest read into the buffer of its value.
func (r *reader) beginStraight(h header, there int) error {
	var a *assembly
	switch h.kind {
	case kindChunk:
		a = r.parts[partKey{h.flags & flagsOf, h.id}]
	case kindData:
		a = r.partOfStream(h)
	}
	if a == nil {
		return nil // it is handled when it is whole
	}
	if len(a.buf)+h.length > a.total {
		return protocolError("value %d is longer than it said", h.id)
	}
	a.make(h.length)
	a.buf = append(a.buf, r.buf[r.start+headerSize:r.end]...)
	r.start, r.end = 0, 0
	r.straight, r.missing, r.flags = a, h.length-there, h.flags
	r.batch.frames++
	return nil
}

// partCame goes on after a part of a value was added to it.
func (r *reader) partCame(a *assembly, flags uint8) error {
	if flags&flagMore != 0 {
		r.inChunks = true
		return nil
	}
	r.inChunks = false
	if len(a.buf) != a.total {
		return protocolError("a value ended after %d of %d bytes", len(a.buf), a.total)
	}
	r.forget(a)
	switch {
	case a.stream != nil:
		return r.dataCame(a.stream, a.flags, a.buf, true)
	case a.in != nil:
		a.in.large = a.buf
		return r.queue(a.in, a.buf)
	case a.key.of == flagOfPost:
		r.link.handler.Post(r.link, a.topic, a.buf)
		freeLarge(a.buf)
	default:
		r.batch.answers = append(r.batch.answers, answer{id: a.key.id, kind: kindReply, flags: a.flags, body: a.buf, pairs: a.pairs, large: a.buf})
	}
	return nil
}

// cancel is the peer giving up a request, a stream, or the rest of a value.
func (r *reader) cancel(h header) error {
	if h.flags&flagOfStream != 0 {
		return r.cancelStream(h)
	}
	a := r.parts[partKey{h.flags & flagsOf, h.id}]
	if a == nil {
		r.link.inbound.cancel(h.id)
		return nil
	}
	if a.in == nil && a.key.of != flagOfPost {
		return protocolError("a reply was cancelled")
	}
	r.forget(a)
	freeLarge(a.buf)
	if a.in != nil {
		a.in.failHere(&Failure{Code: codeCanceled, Name: NameCanceled, Node: r.link.config.Node, Message: "given up by the caller before all of the request was sent"})
		r.batch.write = true
	}
	return nil
}

// dropParts gives back what values hold of which the rest will not come, when the link has ended.
func (r *reader) dropParts() {
	for _, a := range r.parts {
		if a.in != nil {
			a.in.drop()
		} else {
			r.link.memory.Give(a.total)
		}
		freeLarge(a.buf)
	}
	clear(r.parts)
}
