package filter

import (
	"bytes"
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/sabir-go/sabir/web/exchange"
)

type compress struct {
	minSize   int
	encodings []string
	types     []string
	zstd      *zstd.Encoder
}

// maxScratch bounds the buffers that are used again.
const maxScratch = 256 << 10

// zstdWindow is the window of zstd, in bytes. Larger ones make lists of users no smaller, and each processor has an encoder.
const zstdWindow = 128 << 10

// Compress compresses answers for clients that accept it (RFC 9110, section 12.5.3), with zstd (RFC 8878) or gzip at their
// fast levels. An answer is left alone that is small, of a type that does not shrink, encoded already, partial, or marked
// no-transform. Its strong ETag becomes weak, since the bytes are others (section 8.8.1).
//
// An answer that holds both a secret and what the caller sent reveals the secret by its size (the BREACH attack): do not
// compress pages with such secrets for callers that can be made to ask again and again.
type Compress struct {
	MinSize   int      // bytes that an answer must have to be compressed. Default: 1024; smaller ones fit one packet as they are
	Encodings []string // to offer, in order of preference. Default: "zstd", "gzip"
	Types     []string // media types to compress besides text/*, JSON, XML, JavaScript, SVG and WebAssembly
}

// Filter makes the filter.
func (f Compress) Filter() exchange.Filter {
	var wrong problems
	wrong.want(f.MinSize >= 0, "Compress: MinSize is %d", f.MinSize)
	for _, name := range f.Encodings {
		wrong.want(name == "zstd" || name == "gzip", "Compress: no encoding is called %q: want \"zstd\" or \"gzip\"", name)
	}
	c := &compress{minSize: cmp.Or(f.MinSize, 1024), encodings: f.Encodings, types: f.Types}
	if len(c.encodings) == 0 {
		c.encodings = []string{"zstd", "gzip"}
	}
	if slices.Contains(c.encodings, "zstd") {
		var err error
		c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
			zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		wrong.want(err == nil, "Compress: %w", err)
	}
	return wrong.filter(exchange.Filter{Name: "compress", After: c.after})
}

func (c *compress) after(x *exchange.Exchange) {
	code := status(x)
	if code == 304 {
		c.afterNotModified(x)
		return
	}
	if len(x.Out) < c.minSize || len(x.Out) == 0 || code < 200 || code == 204 || code == 206 || !c.compressible(x.Type) ||
		x.Answer.Has("Content-Encoding") || noTransform(x) {
		return
	}
	vary(x, "Accept-Encoding")
	encoding := c.choose(x)
	if encoding == "" {
		return
	}
	s := scratches.Get().(*scratch)
	defer s.put()
	if s.buf = c.encode(s, encoding, x.Out); len(s.buf) >= len(x.Out) {
		return
	}
	x.Out = append(x.Out[:0], s.buf...)
	x.Answer.Set("Content-Encoding", encoding)
	weaken(x)
}

// afterNotModified makes the answer fit what was stored: that may be a compressed one, whose ETag is weak.
func (c *compress) afterNotModified(x *exchange.Exchange) {
	if x.Answer.Has("ETag") && !noTransform(x) {
		vary(x, "Accept-Encoding")
		if c.choose(x) != "" {
			weaken(x)
		}
	}
}

func weaken(x *exchange.Exchange) {
	if tag := x.Answer.Get("ETag"); strings.HasPrefix(tag, `"`) {
		x.Answer.Set("ETag", "W/"+tag)
	}
}

func noTransform(x *exchange.Exchange) bool {
	for line := range x.Answer.All("Cache-Control") {
		if containsFold(line, "no-transform") {
			return true
		}
	}
	return false
}

func containsFold(s, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

func (c *compress) compressible(mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, ";")
	kind = strings.TrimRight(kind, " \t")
	switch {
	case kind == "application/json", kind == "application/problem+json": // nearly always
		return true
	case strings.HasPrefix(kind, "text/"):
		return kind != "text/event-stream"
	case strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml"):
		return true
	}
	switch kind {
	case "application/xml", "application/javascript", "application/x-ndjson", "application/wasm", "application/yaml", "font/ttf", "image/x-icon", "application/manifest+json":
		return true
	}
	return slices.Contains(c.types, kind)
}

// choose is the encoding that the caller prefers, of equals the one that is offered first; "" for none.
func (c *compress) choose(x *exchange.Exchange) string {
	header := x.Header.Get("Accept-Encoding")
	if header == "" {
		return ""
	}
	best, bestWeight := "", 0
	identity := qualityOf(header, "identity")
	for _, name := range c.encodings {
		if weight := qualityOf(header, name); weight > bestWeight {
			best, bestWeight = name, weight
		}
	}
	if identity > bestWeight && listed(header, "identity") {
		return "" // the header prefers the plain form
	}
	return best
}

// qualityOf is the weight, in thousandths, that an Accept-Encoding header gives a coding (RFC 9110, section 12.4.2): that of
// its own item, of "*" where it has none, and for identity 1 where neither is there. An item that is malformed counts as not
// there.
func qualityOf(header, coding string) int {
	star := -1
	for header != "" {
		var item string
		item, header, _ = strings.Cut(header, ",")
		name, parameters, _ := strings.Cut(item, ";")
		name = strings.Trim(name, " \t")
		switch {
		case strings.EqualFold(name, coding) || coding == "gzip" && strings.EqualFold(name, "x-gzip"):
			if q, ok := quality(parameters); ok {
				return q
			}
		case name == "*" && star < 0:
			if q, ok := quality(parameters); ok {
				star = q
			}
		}
	}
	switch {
	case star >= 0:
		return star
	case coding == "identity":
		return 1
	}
	return 0
}

func listed(header, coding string) bool {
	for item := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(item, ";")
		if strings.EqualFold(strings.Trim(name, " \t"), coding) {
			return true
		}
	}
	return false
}

// quality reads "q=0.5" as thousandths; nothing is 1000.
func quality(parameters string) (thousandths int, ok bool) {
	parameters = strings.Trim(parameters, " \t")
	if parameters == "" {
		return 1000, true
	}
	if len(parameters) < 3 || len(parameters) > 7 || parameters[0]|0x20 != 'q' || parameters[1] != '=' {
		return 0, false
	}
	value := parameters[2:]
	if value[0] != '0' && value[0] != '1' || len(value) > 1 && value[1] != '.' {
		return 0, false
	}
	thousandths = int(value[0]-'0') * 1000
	for i, unit := 2, 100; i < len(value); i, unit = i+1, unit/10 {
		if value[i] < '0' || value[i] > '9' {
			return 0, false
		}
		thousandths += int(value[i]-'0') * unit
	}
	return thousandths, thousandths <= 1000
}

// scratch is the buffer for a compressed answer, with the gzip encoder, which has half a megabyte of its own.
type scratch struct {
	buf  []byte
	gzip *gzip.Writer
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

func (s *scratch) put() {
	if cap(s.buf) > maxScratch {
		s.buf = nil
	}
	scratches.Put(s)
}

func (c *compress) encode(s *scratch, encoding string, plain []byte) []byte {
	if encoding == "zstd" {
		return c.zstd.EncodeAll(plain, s.buf[:0])
	}
	out := bytes.NewBuffer(s.buf[:0])
	if s.gzip == nil {
		s.gzip, _ = gzip.NewWriterLevel(out, gzip.BestSpeed) // the level is one that there is
	} else {
		s.gzip.Reset(out)
	}
	s.gzip.Write(plain) // a buffer takes everything
	s.gzip.Close()
	return out.Bytes()
}
