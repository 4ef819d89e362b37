package native

import (
	"fmt"
	"sync"

	"github.com/sabir-go/sabir/codec"
)

// maxSchemas is the number of schemas that [AddSchema] keeps, and of translations made from them.
const maxSchemas = 1024

// foreign holds the schemas of writers that this program has received.
var foreign = struct {
	sync.RWMutex
	schemas      map[Hash]*Schema
	translations map[translated]*plan
}{schemas: make(map[Hash]*Schema), translations: make(map[translated]*plan)}

type translated struct {
	from Hash
	to   *plan
}

// AddSchema makes the schema of a writer known, so that [Decode] and interface values accept its messages if they can be
// translated. It returns an error where 1024 others are known already. A schema stays known as long as the program
// runs; call AddSchema only for peers that are trusted that far.
func AddSchema(s *Schema) error {
	if s == nil {
		return fault(-1, "AddSchema was given a nil schema")
	}
	foreign.Lock()
	defer foreign.Unlock()
	if _, ok := foreign.schemas[s.hash]; ok {
		return nil
	}
	if len(foreign.schemas) >= maxSchemas {
		return fault(-1, fmt.Sprintf("%d schemas are known, no more are kept: %s was not added", maxSchemas, s.hash))
	}
	foreign.schemas[s.hash] = s
	return nil
}

// translationFor returns the plan that reads messages of a schema into the type of p.
func translationFor(h Hash, p *plan) (*plan, *codec.Error) {
	if h == p.schema().hash {
		return p, nil
	}
	key := translated{h, p}
	foreign.RLock()
	s, ready := foreign.schemas[h], foreign.translations[key]
	foreign.RUnlock()
	if ready != nil {
		return ready, nil
	}
	if s == nil {
		return nil, &codec.Error{
			Codec: Name, Offset: 0, Want: fmt.Sprintf("schema %s (Go type %s)", p.schema().hash, p.typ), Got: "schema " + h.String(),
			Message: "the writer has another version of the type: make its schema known with native.AddSchema",
		}
	}
	r := resolver{writer: s, done: make(map[pair]*plan)}
	made, err := r.translate(s.root, p)
	if err != nil {
		return nil, err
	}
	foreign.Lock()
	defer foreign.Unlock()
	if len(foreign.translations) < maxSchemas {
		foreign.translations[key] = made
	}
	return made, nil
}
