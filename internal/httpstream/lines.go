package httpstream

import (
	"bytes"
	"errors"
	"io"

	"github.com/sabir-go/sabir/internal/memory"
)

// lineReader takes the lines out of NDJSON: texts that end with "\n" (a "\r" before it is white space) or with the end, without
// white space around them. Blank ones are skipped.
type lineReader struct {
	r          io.Reader
	buf        []byte
	start, end int // what is not given yet
	searched   int // there is no line's end before this
	limit      int
	window     *memory.Window // counts buf
	number     int            // of the line that was given last, from 1
	err        error
}

var errLineTooLong = errors.New("the line is too long")

const (
	firstLineBuffer = 4 << 10
	// keptLine is the largest buffer that is kept for the next lines.
	keptLine = 64 << 10
)

func newLineReader(r io.Reader, limit int, window *memory.Window) *lineReader {
	return &lineReader{r: r, limit: limit, window: window, buf: make([]byte, min(firstLineBuffer, limit+2))}
}

// next is the next line, which is valid until the one after it. At the end it is io.EOF, and an error of the reader comes
// after all lines that are whole.
func (l *lineReader) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(l.buf[l.searched:l.end], '\n'); i >= 0 {
			line := l.buf[l.start : l.searched+i]
			l.start = l.searched + i + 1
			l.searched = l.start
			if line, err := l.give(line); line != nil || err != nil {
				return line, err
			}
			continue
		}
		l.searched = l.end
		if l.err != nil {
			if l.err != io.EOF || l.start == l.end {
				return nil, l.err
			}
			line := l.buf[l.start:l.end]
			l.start = l.end
			if line, err := l.give(line); line != nil || err != nil {
				return line, err
			}
			return nil, io.EOF
		}
		if l.end-l.start > l.limit+1 { // as much as the longest line with its end
			l.number++
			return nil, errLineTooLong
		}
		l.more()
	}
}

// give is a line without the white space around it, nil for a blank one.
func (l *lineReader) give(line []byte) ([]byte, error) {
	l.number++
	line = bytes.Trim(line, " \t\r")
	switch {
	case len(line) > l.limit:
		return nil, errLineTooLong
	case len(line) == 0:
		return nil, nil
	}
	return line, nil
}

// more reads once, and makes space for that.
func (l *lineReader) more() {
	switch {
	case l.start == l.end:
		l.start, l.end, l.searched = 0, 0, 0
		if len(l.buf) > keptLine {
			l.window.Remove(len(l.buf))
			l.buf = make([]byte, firstLineBuffer)
		}
	case l.end == len(l.buf) && l.start > 0:
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.searched -= l.start
		l.start = 0
	case l.end == len(l.buf):
		grown := make([]byte, min(2*len(l.buf), l.limit+2))
		copy(grown, l.buf)
		l.window.Add(len(grown) - len(l.buf))
		l.buf = grown
	}
	var n int
	n, l.err = l.r.Read(l.buf[l.end:])
	l.end += n
}
