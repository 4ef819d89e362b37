// Package gomicro has what the bridge to go-micro (bridge/micro) shares with its drivers of registries and brokers: services as registries
// have them, and the interfaces of drivers.
package gomicro

import (
	"encoding/json"
	"fmt"
)

// Service is one version of a service with its nodes, in the form that go-micro's registries keep as JSON.
type Service struct {
	Name      string            `json:"name"`
	Version   string            `json:"version"`
	Metadata  map[string]string `json:"metadata"`
	Endpoints []Endpoint        `json:"endpoints"`
	Nodes     []Node            `json:"nodes"`
}

// Endpoint is a method of a service, or a handler of events.
type Endpoint struct {
	Request  *Value            `json:"request"`
	Response *Value            `json:"response"`
	Metadata map[string]string `json:"metadata"`
	Name     string            `json:"name"`
}

// Value describes a type of an endpoint, or a field of one. It is written for go-micro's tools, and not read.
type Value struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Values []*Value `json:"values"`
}

// UnmarshalJSON implements json.Unmarshaler: nothing here needs what others say.
func (*Value) UnmarshalJSON([]byte) error { return nil }

// Node is a process that has a service.
type Node struct {
	Metadata map[string]string `json:"metadata"`
	ID       string            `json:"id"`
	Address  string            `json:"address"`
}

// Bounds of what a registry may say.
const (
	MaxService  = 1 << 20 // bytes of the JSON of one service
	MaxServices = 4096    // services and nodes in all
)

// DecodeService reads the JSON of a service.
func DecodeService(text []byte) (s Service, err error) {
	if len(text) > MaxService {
		return s, fmt.Errorf("the record has %d bytes: %d is the limit", len(text), MaxService)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, err
	}
	if s.Name == "" {
		return s, fmt.Errorf("the record names no service")
	}
	return s, nil
}

// Encode is the JSON of a service.
func (s *Service) Encode() ([]byte, error) { return json.Marshal(s) }
