package thrift

import (
	"context"
	"io"
)

// memory is a transport of the library that appends to data or reads it from pos on.
type memory struct {
	data []byte
	pos  int
}

func (m *memory) Write(b []byte) (int, error) {
	m.data = append(m.data, b...)
	return len(b), nil
}

func (m *memory) WriteString(s string) (int, error) {
	m.data = append(m.data, s...)
	return len(s), nil
}

func (m *memory) WriteByte(b byte) error {
	m.data = append(m.data, b)
	return nil
}

func (m *memory) Read(b []byte) (int, error) {
	n := copy(b, m.data[m.pos:])
	m.pos += n
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memory) ReadByte() (byte, error) {
	if m.pos >= len(m.data) {
		return 0, io.EOF
	}
	b := m.data[m.pos]
	m.pos++
	return b, nil
}

func (m *memory) RemainingBytes() uint64      { return uint64(len(m.data) - m.pos) }
func (m *memory) Open() error                 { return nil }
func (m *memory) Close() error                { return nil }
func (m *memory) IsOpen() bool                { return true }
func (m *memory) Flush(context.Context) error { return nil }
