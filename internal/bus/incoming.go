package bus

// incoming holds the data that the other side has sent and the reader of this side has not read yet. The conn's lock guards it.
type incoming struct {
	received uint64 // offset of the next byte that is missing
	taken    uint64 // by the reader
	reported uint64 // what of that was reported to the other side
	queue    [][]byte
	gap      bool // what came is behind what is missing, and that was reported to the other side
	finished bool // the whole stream has arrived
}

// add takes bytes of the stream that begin at an offset. It reports whether something before them is missing, and false
// for what no sender that keeps to the window sends.
func (in *incoming) add(at uint64, data []byte) (missing, ok bool) {
	switch {
	case at < in.received: // sent again though it had arrived
		return false, true
	case at > in.received:
		first := !in.gap
		in.gap = true
		return first, true
	case in.finished || in.received-in.taken+uint64(len(data)) > 2*Window:
		return false, false
	}
	in.gap = false
	if len(data) > 0 {
		in.queue = append(in.queue, data)
		in.received += uint64(len(data))
	}
	return false, true
}

// take moves what has arrived to p. It reports whether the amount read should be reported to the other side.
func (in *incoming) take(p []byte) (n int, report bool) {
	for n < len(p) && len(in.queue) > 0 {
		moved := copy(p[n:], in.queue[0])
		n += moved
		if moved == len(in.queue[0]) {
			in.queue[0] = nil
			in.queue = in.queue[1:]
		} else {
			in.queue[0] = in.queue[0][moved:]
		}
	}
	if len(in.queue) == 0 {
		in.queue = nil
	}
	in.taken += uint64(n)
	if in.taken-in.reported >= Window/4 {
		in.reported = in.taken
		return n, true
	}
	return n, false
}

// finish takes in where the stream ends, which counts as one more byte of it, so that it is confirmed and sent again as
// bytes are. It reports whether something before it is missing.
func (in *incoming) finish(at uint64) (missing bool) {
	if at > in.received {
		first := !in.gap
		in.gap = true
		return first
	}
	if at == in.received && !in.finished {
		in.finished = true
		in.received++
	}
	return false
}
