package moleculer

import (
	"context"
	"io"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/introspect"
)

const (
	// openLimit is the time after which a stream of answers begins without a value: Moleculer's caller has a time limit until then.
	openLimit = time.Second
	// errorGap is the time that a caller has to listen to a stream before it may fail. A Moleculer node loses an error that nobody listens to,
	// and waits for ever.
	errorGap = 100 * time.Millisecond
	// maxPiece is the largest piece of a stream of bytes, which as a Buffer in JSON takes up to four times as much.
	maxPiece = 128 << 10
)

// pieces is the format of the values of streams: bytes are as they are, anything else is in the form of the serializer.
type pieces struct{ codec.Codec }

func (p pieces) Append(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case []byte:
		return append(dst, v...), nil
	case *[]byte:
		return append(dst, *v...), nil
	}
	return p.Codec.Append(dst, v)
}

func (p pieces) Decode(data []byte, v any) error {
	if to, ok := v.(*[]byte); ok {
		*to = append((*to)[:0], data...)
		return nil
	}
	return p.Codec.Decode(data, v)
}

// pieceOf returns the bytes in a value of a stream of bytes.
func (s *serializer) pieceOf(value raw) ([]byte, error) {
	if !s.binary {
		if data, size := readBuffer(value); size == len(value) && size > 0 {
			return data, nil
		}
	}
	var data []byte
	if err := s.values.Decode(value, &data); err == nil {
		return data, nil
	}
	var text string // JavaScript's streams may have texts in place of bytes
	err := s.values.Decode(value, &text)
	if err == nil {
		return []byte(text), nil
	}
	var object struct { // moleculer-java writes Buffers in MsgPack as in JSON, with numbers that have a sign
		Type string `json:"type"`
		Data []int  `json:"data"`
	}
	if s.values.Decode(value, &object) != nil || object.Type != "Buffer" {
		return nil, err
	}
	for _, n := range object.Data {
		data = append(data, byte(n))
	}
	return data, nil
}

// serveStream opens the stream action, gives it what the caller sends, and sends the caller what it answers.
func (b *bridge) serveStream(r *request, action *sabir.Action, input codec.Codec, upload *chunks) {
	if upload != nil {
		defer b.uploads.close(r, upload)
	}
	values := &callValues{}
	stream, cancel, err := b.openFor(r, action, input, values)
	if err != nil {
		b.refuse(r, err)
		return
	}
	var feeding sync.WaitGroup
	defer feeding.Wait()
	defer stream.Close()
	defer cancel()
	s := &answers{bridge: b, request: r, meta: &values.meta, bytes: action.Out == bytesType}
	feeding.Go(func() {
		if err := b.feed(stream, r, upload, action.In == bytesType); err != nil {
			s.failed(err)
			cancel()
		}
	})
	if action.Shape == introspect.ClientStream {
		s.only(stream)
		return
	}
	wait := openLimit
	if r.Timeout > 0 {
		wait = min(wait, r.Timeout.duration()/2)
	}
	begin := time.AfterFunc(wait, s.begin)
	defer begin.Stop()
	for {
		value, err := stream.Recv()
		if err == nil {
			err = s.send(value)
		}
		if err != nil {
			s.end(err)
			return
		}
	}
}

// openFor opens a stream of the action for a request.
func (b *bridge) openFor(r *request, action *sabir.Action, input codec.Codec, values *callValues) (*sabir.Stream[[]byte, []byte], context.CancelFunc, error) {
	if action == nil {
		return nil, nil, notFound(r.Action, b)
	}
	in, err := b.inbound(nil, r.Sender, &r.origin, values)
	if err != nil {
		return nil, nil, err
	}
	var cancel context.CancelFunc
	in.Context = context.WithValue(in.Context, paramsKey{}, b.paramsOf(r))
	if r.Timeout > 0 && action.Shape == introspect.ClientStream { // nobody waits for the one answer after it, and a sender that gave up may never say so
		in.Context, cancel = context.WithTimeout(in.Context, r.Timeout.duration())
	} else {
		in.Context, cancel = context.WithCancel(in.Context)
	}
	stream, err := action.Open(in, pieces{input})
	if err != nil {
		cancel()
	}
	return stream, cancel, err
}

// feed gives the stream what the caller sends. The error is what the caller ended its stream with, or the reason why it cannot be taken.
func (b *bridge) feed(stream *sabir.Stream[[]byte, []byte], r *request, upload *chunks, pieces bool) error {
	if upload == nil {
		err := b.give(stream, b.wire.present(r.Params), pieces)
		if err == nil {
			stream.CloseSend()
		}
		return err
	}
	for {
		one, ok := upload.take(stream.Context().Done())
		if one.err != nil {
			return one.err
		}
		if !ok {
			return nil // the stream is over, which is not the end of what is sent
		}
		if one.last {
			stream.CloseSend()
			return nil
		}
		if err := b.give(stream, one.value, pieces); err != nil {
			return err
		}
	}
}

func (b *bridge) give(stream *sabir.Stream[[]byte, []byte], value raw, pieces bool) (err error) {
	if data := []byte(value); pieces {
		if data, err = b.wire.pieceOf(value); err != nil {
			return sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "a value of the stream has no bytes: %w", err)
		}
		err = stream.Send(data)
	} else {
		err = stream.Send(data)
	}
	if err == io.EOF || stream.Context().Err() != nil {
		return nil // it has ended, for a reason that Recv returns
	}
	return err
}

type paramsKey struct{}

// paramsOf are the params beside a stream.
func (b *bridge) paramsOf(r *request) func() any {
	return func() (params any) {
		if r.Version == "5" {
			_ = b.wire.values.Decode(b.wire.present(r.Params), &params)
			return params
		}
		return paramsIn(r.Meta)
	}
}

// paramsIn are the params beside a stream of protocol 4. moleculer-web 0.10 has the fields of a form and the file in other members of meta, which
// become those that 0.11 has in the params.
func paramsIn(meta raw) any {
	var of struct {
		Params    any            `json:"$params"`
		Form      map[string]any `json:"$multipart"`
		FieldName any            `json:"fieldname"`
		FileName  any            `json:"filename"`
		Encoding  any            `json:"encoding"`
		MimeType  any            `json:"mimetype"`
	}
	_ = format.Decode(present(meta), &of)
	given, isObject := of.Params.(map[string]any)
	if of.Form == nil || of.Params != nil && !isObject {
		return of.Params
	}
	params := map[string]any{"$fieldname": of.FieldName, "$filename": of.FileName, "$encoding": of.Encoding, "$mimetype": of.MimeType}
	maps.Copy(params, given)
	maps.Copy(params, of.Form)
	return params
}

// Params are the params of the request from a Moleculer node that opened the stream that ctx belongs to, with values as JSON has them:
// what is sent beside the stream, such as the name of a file. From protocol 4 it is the member $params of meta, and a form's fields in
// $multipart. nil for none.
func Params(ctx context.Context) any {
	if params, ok := ctx.Value(paramsKey{}).(func() any); ok {
		return params()
	}
	return nil
}

// only answers with the only value of a stream, as an action that is no stream does: moleculer-web answers the client of an upload with it.
func (s *answers) only(stream *sabir.Stream[[]byte, []byte]) {
	value, err := stream.Recv()
	if err == nil {
		if _, err = stream.Recv(); err == io.EOF { // the runtime refuses a second value
			err = nil
		}
	}
	s.mu.Lock()
	if s.cause != nil {
		err = s.cause
	}
	s.mu.Unlock()
	b := s.bridge
	b.answer(s.request, s.meta, func(dst []byte) ([]byte, error) {
		switch {
		case err != nil:
			return dst, err
		case s.bytes:
			return b.wire.values.Append(dst, value)
		}
		return append(dst, value...), nil
	})
}

// answers is the stream of answers to a request.
type answers struct {
	bridge  *bridge
	request *request
	meta    *collectedMeta
	bytes   bool

	mu    sync.Mutex
	seq   int
	begun time.Time
	cause error // why the caller's own stream failed
}

// failed notes why the stream is ended from here.
func (s *answers) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cause = err
}

// begin sends the first packet, by which the caller gets its stream.
func (s *answers) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seq == 0 {
		_ = s.packet(true, nil) // without a payload it is small, and has a form
		s.begun = time.Now()
	}
}

// send sends a value.
func (s *answers) send(value []byte) error {
	s.begin()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.bytes {
		return s.packet(true, func(dst []byte) ([]byte, error) { return append(dst, value...), nil })
	}
	for {
		piece := value[:min(len(value), maxPiece)]
		value = value[len(piece):]
		if err := s.packet(true, func(dst []byte) ([]byte, error) { return s.bridge.wire.values.Append(dst, piece) }); err != nil || len(value) == 0 {
			return err
		}
	}
}

// packet sends the next packet. The caller holds mu.
func (s *answers) packet(more bool, payload func(dst []byte) ([]byte, error)) error {
	b, r := s.bridge, s.request
	w := writing{as: b.wire}
	s.head(&w, more)
	w.out = append(w.out, `,"success":true`...)
	if payload == nil {
		payload = func(dst []byte) ([]byte, error) { return append(dst, b.wire.null...), nil }
	}
	err := w.payload("data", payload)
	if err != nil {
		return err
	}
	w.out = s.meta.append(append(w.out, `,"meta":`...))
	if r.Version == "4" && !s.bytes {
		w.out = addMember(w.out, `"`+objectMode+`":true`)
	}
	packet, err := w.packet()
	if err != nil {
		return err
	}
	if limit := b.broker.MaxMessage(); len(packet) > limit {
		return tooLarge("a value of "+r.Action, len(packet), limit)
	}
	s.seq++
	b.send("RES."+r.Sender, packet)
	return nil
}

func (s *answers) head(w *writing, more bool) {
	header := ""
	if !s.bytes {
		header = `"` + objectMode + `":true`
	}
	w.out = s.bridge.appendAnswer(w.out, s.request, header)
	w.out = strconv.AppendBool(append(w.out, `,"stream":`...), more)
	w.out = strconv.AppendInt(append(w.out, `,"seq":`...), int64(s.seq), 10)
}

// end ends the stream with io.EOF, or an error.
func (s *answers) end(err error) {
	s.mu.Lock()
	if s.cause != nil {
		err = s.cause
	}
	if err != io.EOF && s.seq == 0 {
		s.seq = -1 // it does not begin any more
		s.mu.Unlock()
		s.bridge.refuse(s.request, err)
		return
	}
	s.mu.Unlock()
	s.begin()
	if err != io.EOF {
		select {
		case <-time.After(time.Until(s.begun.Add(errorGap))):
		case <-s.bridge.ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == io.EOF {
		_ = s.packet(false, nil)
		return
	}
	w := writing{as: s.bridge.wire}
	s.head(&w, false)
	s.bridge.fail(&w, s.request, err, s.meta)
}
