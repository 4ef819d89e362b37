package membership

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sabir-go/sabir/internal/identity"
)

// A Summary is a catalog that names its services by their hashes. Nodes of a large cluster pass summaries on to each other; a service that
// many nodes offer alike, or that a node offers again after a restart, is then sent once.
type Summary struct {
	Catalog
	Hashes []string        `json:"services,omitempty"` // in the order of the catalog's services
	Info   json.RawMessage `json:"info,omitempty"`     // what the node says of itself in handshakes
}

// Limits of what is sent with summaries.
const (
	MaxSummaries = 256 << 10 // bytes of one message, unless it has one summary only
	MaxWanted    = 4096      // hashes that one message asks for
	maxInfo      = 64 << 10
	hashBytes    = 16
)

var hashLength = base64.RawURLEncoding.EncodedLen(hashBytes)

// Summarize makes the summary of a whole catalog, and the services by their hashes.
func (c *Catalog) Summarize(info json.RawMessage) (Summary, map[string]*Service) {
	s := Summary{Catalog: *c, Info: info}
	s.Services = nil
	services := make(map[string]*Service, len(c.Services))
	for i := range c.Services {
		hash := c.Services[i].Hash()
		services[hash] = &c.Services[i]
		s.Hashes = append(s.Hashes, hash)
	}
	return s, services
}

// Hash is made of all that is told of the service: the first 16 bytes of SHA-256 (FIPS 180-4) over its JSON. Nodes ask others than the one
// that offers it for the service of a hash, so it must not be possible to make another one with the same hash.
func (s *Service) Hash() string { return hashOf(s.Text()) }

// Text is the JSON that nodes send of the service.
func (s *Service) Text() []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // its routes were read from JSON
	}
	return text
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:hashBytes])
}

// ParseSummaries reads a message of summaries and checks each, as ParseCatalog does. The texts are those of the single summaries, to be passed on as
// they came: what a newer node has added stays in them.
func ParseSummaries(data []byte) (list []Summary, texts []json.RawMessage, err error) {
	if len(data) > MaxCatalog {
		return nil, nil, fmt.Errorf("summaries: %d bytes; %d is the limit", len(data), MaxCatalog)
	}
	if n := bytes.Count(data, []byte{','}); n > maxFields {
		return nil, nil, fmt.Errorf("summaries: about %d fields; %d is the limit", n, maxFields)
	}
	if err := json.Unmarshal(bytes.Clone(data), &texts); err != nil {
		return nil, nil, fmt.Errorf("summaries: %w", err)
	}
	list = make([]Summary, len(texts))
	for i := range texts {
		if err := json.Unmarshal(texts[i], &list[i]); err != nil {
			return nil, nil, fmt.Errorf("summary: %w", err)
		}
		if err := list[i].check(); err != nil {
			return nil, nil, fmt.Errorf("summary of node %.100q: %w", list[i].Node, err)
		}
	}
	return list, texts, nil
}

func (s *Summary) check() error {
	if len(s.Hashes) > MaxServices {
		return fmt.Errorf("%d services; %d is the limit", len(s.Hashes), MaxServices)
	}
	for _, hash := range s.Hashes {
		if len(hash) != hashLength {
			return fmt.Errorf("the hash %.40q of a service has %d bytes, not %d", hash, len(hash), hashLength)
		}
	}
	if len(s.Info) > maxInfo {
		return fmt.Errorf("the description of the node has %d bytes; %d is the limit", len(s.Info), maxInfo)
	}
	if s.Base != 0 || len(s.Gone) > 0 {
		return errors.New("it is a difference")
	}
	return s.Catalog.Check()
}

// With is the whole catalog, given its services in the order of the hashes.
func (s *Summary) With(services []*Service) (Catalog, error) {
	c := s.Catalog
	c.Services = make([]Service, len(services))
	for i := range services {
		c.Services[i] = *services[i]
	}
	return c, c.Check()
}

// Received is a service that was asked for.
type Received struct {
	Hash    string // of the text that came
	Service *Service
	// Text keeps the bytes that came, where this node would write the service in another way: the fields that a newer node has added stay in it when it is passed on, or
	// nobody would find it by its hash. It is nil otherwise.
	Text []byte
}

// ParseServices reads services that were asked for.
func ParseServices(data []byte) ([]Received, error) {
	if len(data) > MaxCatalog {
		return nil, fmt.Errorf("services: %d bytes; %d is the limit", len(data), MaxCatalog)
	}
	if n := bytes.Count(data, []byte{','}); n > maxFields {
		return nil, fmt.Errorf("services: about %d fields; %d is the limit", n, maxFields)
	}
	var texts []json.RawMessage
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, fmt.Errorf("services: %w", err)
	}
	found := make([]Received, len(texts))
	for i, text := range texts {
		own := new(Service)
		if err := json.Unmarshal(text, own); err != nil {
			return nil, fmt.Errorf("service: %w", err)
		}
		own.trim()
		if err := own.check(); err != nil {
			return nil, fmt.Errorf("service %.100q: %w", own.Name, err)
		}
		found[i] = Received{Hash: hashOf(text), Service: own}
		if !bytes.Equal(text, own.Text()) {
			found[i].Text = text
		}
	}
	return found, nil
}

// A Run is one run of a node.
type Run struct {
	Node     string
	Instance uint64
}

// Digest has the newest version that somebody knows of the catalog of each run.
type Digest map[Run]uint64

// Append writes the digest: for each run the length of the node's id and the id, the instance in 8 bytes, little-endian, and the version.
// Lengths and versions are unsigned varints.
func (d Digest) Append(to []byte) []byte {
	for r, version := range d {
		to = binary.AppendUvarint(to, uint64(len(r.Node)))
		to = append(to, r.Node...)
		to = binary.LittleEndian.AppendUint64(to, r.Instance)
		to = binary.AppendUvarint(to, version)
	}
	return to
}

// ParseDigest reads what Append has written.
func ParseDigest(data []byte) (Digest, error) {
	d := make(Digest)
	for len(data) > 0 {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > identity.MaxID || uint64(len(data)-n) < size+8 {
			return nil, errors.New("digest: an entry is cut off")
		}
		data = data[n:]
		r := Run{string(data[:size]), binary.LittleEndian.Uint64(data[size:])}
		data = data[size+8:]
		version, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, errors.New("digest: a version is cut off")
		}
		data = data[n:]
		if d[r] = version; len(d) > 2*identity.MaxMembers {
			return nil, fmt.Errorf("digest: more than %d nodes", 2*identity.MaxMembers)
		}
	}
	return d, nil
}

// Sum is a number that is as good as certainly another one for another digest.
func (d Digest) Sum() (sum uint64) {
	for r, version := range d {
		entry := sha256.Sum256(Digest{r: version}.Append(nil))
		sum += binary.LittleEndian.Uint64(entry[:])
	}
	return sum
}
