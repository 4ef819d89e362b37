package micro

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/gomicro"
)

// go-micro keeps what Consul has no place for in tags: "v-" begins the version, "t-" a pair of metadata, "e-" an endpoint, each compressed; an "="
// in place of the "-" begins a plain text, as old versions wrote it.

func isVersionTag(tag string) bool {
	return strings.HasPrefix(tag, "v-") || strings.HasPrefix(tag, "v=")
}

// consulTags are the tags of a service with one node.
func consulTags(s *gomicro.Service) (tags []string) {
	metadata := s.Nodes[0].Metadata
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		pair, _ := json.Marshal(map[string]string{key: metadata[key]}) // texts have a form
		tags = append(tags, "t-"+gomicro.Deflate(pair))
	}
	for i := range s.Endpoints {
		text, _ := json.Marshal(&s.Endpoints[i])
		tags = append(tags, "e-"+gomicro.Deflate(text))
	}
	return append(tags, "v-"+gomicro.Deflate([]byte(s.Version)))
}

// readConsulTags reads a service with one node from its tags, up to gomicro.MaxService bytes in all.
func readConsulTags(tags []string) (*gomicro.Service, error) {
	s := &gomicro.Service{Nodes: []gomicro.Node{{Metadata: make(map[string]string)}}}
	size := 0
	for _, tag := range tags {
		if len(tag) < 2 || tag[1] != '-' && tag[1] != '=' || !strings.Contains("vte", tag[:1]) {
			continue
		}
		text := []byte(tag[2:])
		if tag[1] == '-' {
			var err error
			if text, err = gomicro.Inflate(tag[2:]); err != nil {
				continue // a tag that begins like one of go-micro's
			}
		}
		if size += len(text); size > gomicro.MaxService {
			return nil, fmt.Errorf("the tags have more than %d bytes", gomicro.MaxService)
		}
		switch tag[0] {
		case 'v':
			s.Version = string(text)
		case 't':
			var pair map[string]string
			if json.Unmarshal(text, &pair) == nil {
				maps.Copy(s.Nodes[0].Metadata, pair)
			}
		case 'e':
			var e gomicro.Endpoint
			if json.Unmarshal(text, &e) == nil && e.Name != "" {
				s.Endpoints = append(s.Endpoints, e)
			}
		}
	}
	return s, nil
}
