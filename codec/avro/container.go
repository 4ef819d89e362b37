package avro

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/sabir-go/sabir/codec"
)

// An object container file begins with "Obj" and 1, a map of bytes with the schema, and a marker of 16 bytes. A block
// follows: the number of values, that of their bytes, the values, and the marker again
// (https://avro.apache.org/docs/1.12.0/specification/#object-container-files).
var containerMagic = []byte("Obj\x01")

// A single object begins with C3 01 and the fingerprint of its schema
// (https://avro.apache.org/docs/1.12.0/specification/#single-object-encoding).
var singleMagic = []byte{0xc3, 0x01}

const schemaKey, compressionKey = "avro.schema", "avro.codec"

func containerHeader(text string, marker [16]byte) []byte {
	out := append([]byte{}, containerMagic...)
	out = binary.AppendVarint(out, 1)
	out = append(binary.AppendVarint(out, int64(len(schemaKey))), schemaKey...)
	out = append(binary.AppendVarint(out, int64(len(text))), text...)
	return append(append(out, 0), marker[:]...)
}

func appendContainer(dst []byte, p *plan, body []byte) []byte {
	dst = append(dst, p.header...)
	dst = binary.AppendVarint(dst, 1)
	dst = binary.AppendVarint(dst, int64(len(body)))
	dst = append(dst, body...)
	return append(dst, p.sync[:]...)
}

func appendSingleObject(dst []byte, p *plan, body []byte) []byte {
	dst = append(dst, singleMagic...)
	dst = append(dst, p.fingerprint[:]...)
	return append(dst, body...)
}

// open finds the value in data, where it starts, and how to read it.
func (p *plan) open(data []byte) (body []byte, start int, read *reader, wrong *codec.Error) {
	switch {
	case bytes.HasPrefix(data, p.header):
		body, start, wrong = block(data, len(p.header), p.sync[:])
		return body, start, p.read, wrong
	case bytes.HasPrefix(data, containerMagic):
		return p.openContainer(data)
	case bytes.HasPrefix(data, singleMagic):
		return p.openSingleObject(data)
	}
	return nil, 0, nil, fault(0, "neither a container file (Obj 01) nor a single object (C3 01)")
}

func (p *plan) openSingleObject(data []byte) ([]byte, int, *reader, *codec.Error) {
	start := len(singleMagic) + len(p.fingerprint)
	if len(data) < start {
		return nil, 0, nil, fault(len(data), endsEarly)
	}
	fingerprint := [8]byte(data[len(singleMagic):start])
	if fingerprint == p.fingerprint {
		return data[start:], start, p.read, nil
	}
	known.RLock()
	text, ok := known.texts[fingerprint]
	known.RUnlock()
	if !ok {
		return nil, 0, nil, fault(len(singleMagic), fmt.Sprintf("no schema is known with the fingerprint %x, that of %s is %x: "+
			"give the writer's schema to AddSchema", fingerprint, p.typ.Go, p.fingerprint))
	}
	read, err := p.reader([]byte(text))
	if err != nil {
		return nil, 0, nil, fault(len(singleMagic), err.Error())
	}
	return data[start:], start, read, nil
}

func (p *plan) openContainer(data []byte) ([]byte, int, *reader, *codec.Error) {
	d := decoder{data: data, pos: len(containerMagic)}
	text, compression := d.metadata()
	marker := d.take(16)
	switch {
	case d.failed != nil:
		return nil, 0, nil, d.failed
	case text == nil:
		return nil, 0, nil, fault(0, "a container file without a schema")
	case len(compression) > 0 && string(compression) != "null":
		return nil, 0, nil, fault(0, fmt.Sprintf("a container file that is compressed by %.20q: only \"null\" is read", compression))
	}
	read, err := p.reader(text)
	if err != nil {
		return nil, 0, nil, fault(0, err.Error())
	}
	body, start, wrong := block(data, d.pos, marker)
	return body, start, read, wrong
}

// metadata reads the head of a container file up to its marker. Both results are parts of the data.
func (d *decoder) metadata() (text, compression []byte) {
	for d.failed == nil {
		n := d.long()
		if n < 0 {
			d.long() // how many bytes the entries have
			n = -n
		}
		if n == 0 {
			return text, compression
		}
		for range n {
			key := d.bytes()
			value := d.bytes()
			if d.failed != nil {
				break
			}
			switch string(key) {
			case schemaKey:
				text = value
			case compressionKey:
				compression = value
			}
		}
	}
	return nil, nil
}

// block returns the one value in the one block that fills data from pos on.
func block(data []byte, pos int, marker []byte) ([]byte, int, *codec.Error) {
	d := decoder{data: data, pos: pos}
	if n := d.long(); d.failed == nil && n != 1 {
		d.fail(fmt.Sprintf("a container file with %d values in its first block, want 1", n))
	}
	body := d.bytes()
	start := d.pos - len(body)
	if end := d.take(16); d.failed == nil && !bytes.Equal(end, marker) {
		d.fail("a block that does not end with the marker of its file")
	}
	if d.failed == nil && d.pos < len(data) {
		d.fail(fmt.Sprintf("%d bytes after the end of the value", len(data)-d.pos))
	}
	return body, start, d.failed
}
