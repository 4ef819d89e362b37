package micro

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/codec/json"
)

// record is a node of a service, as a registry has it.
type record struct {
	id        string
	service   string
	version   string
	address   string
	endpoints []string
	metadata  map[string]string
	static    bool // from Static: it is not forgotten
}

// grpc reports whether the node is a server of go-micro's gRPC.
func (r *record) grpc() bool { return r.metadata["protocol"] == "grpc" }

func (r *record) same(other *record) bool {
	return r.address == other.address && r.service == other.service && slices.Equal(r.endpoints, other.endpoints) && maps.Equal(r.metadata, other.metadata)
}

// text describes a node in its TXT record: it is written as JSON, compressed by zlib, in hexadecimal, cut into strings of 255 bytes.
type text struct {
	Metadata  map[string]string
	Service   string
	Version   string
	Endpoints []textEndpoint
}

type textEndpoint struct {
	Request  any               `json:"request"`
	Response any               `json:"response"`
	Metadata map[string]string `json:"metadata"`
	Name     string            `json:"name"`
}

const (
	maxText   = 1 << 20 // bytes of the JSON
	textPiece = 255
)

func encodeText(r *record) ([]string, error) {
	t := text{Metadata: r.metadata, Service: r.service, Version: r.version}
	for _, e := range r.endpoints {
		t.Endpoints = append(t.Endpoints, textEndpoint{Name: e, Metadata: map[string]string{}})
	}
	plain, err := json.Append(nil, &t)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	w.Write(plain) // into memory
	w.Close()
	var pieces []string
	for rest := hex.EncodeToString(packed.Bytes()); rest != ""; {
		n := min(len(rest), textPiece)
		pieces, rest = append(pieces, rest[:n]), rest[n:]
	}
	return pieces, nil
}

func decodeText(pieces []string) (*text, error) {
	packed, err := hex.DecodeString(strings.Join(pieces, ""))
	if err != nil {
		return nil, err
	}
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return nil, err
	}
	if len(plain) > maxText {
		return nil, fmt.Errorf("the record has more than %d bytes", maxText)
	}
	t := new(text)
	if err := json.Decode(plain, t); err != nil {
		return nil, err
	}
	return t, nil
}

// names are the endpoints that can be called: no streams, and no handlers of events.
func (t *text) names() (list []string) {
	for _, e := range t.Endpoints {
		if e.Metadata["stream"] == "true" || e.Metadata["subscriber"] == "true" || slices.Contains(list, e.Name) {
			continue
		}
		list = append(list, e.Name)
	}
	return list
}
