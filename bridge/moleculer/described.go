package moleculer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/fastestvalidator"
	"github.com/sabir-go/sabir/internal/schema"
)

// describing is the action by which nodes describe theirs. Moleculer's have none of that name: the bridge answers in their place.
const describing = "$node.api"

// maxParams bounds the bytes of an action's params that are described.
const maxParams = 256 << 10

// visibilityOf translates the visibility of an action: gateways of Moleculer may serve those that are "published", which is its default, and
// so may those of Sabir.
func (a *infoAction) visibilityOf() string {
	if a.Visibility == "" || a.Visibility == "published" {
		return "public"
	}
	return "cluster"
}

// describeInputs writes what the params of actions are, for listings.
func (p *infoPacket) describeInputs() {
	for i := range p.Services {
		for name, a := range p.Services[i].Actions {
			a.input = typeText(a.schema())
			p.Services[i].Actions[name] = a
		}
	}
}

// schema describes the params of the action, which are anything where INFO has no schema of them.
func (a *infoAction) schema() *schema.Schema {
	if len(a.Params) > maxParams {
		return &schema.Schema{}
	}
	in, err := fastestvalidator.Schema(a.Params)
	if err != nil {
		return &schema.Schema{}
	}
	return in
}

// describe answers a call of $node.api.
func (p *peer) describe(r *sabir.Request) error {
	text, err := r.AppendInput(json.Codec, nil)
	if err != nil {
		return err
	}
	var of description.Request
	if err := json.Codec.Decode(text, &of); err != nil {
		return sabir.Errorf(sabir.ErrBadInput.Code, sabir.ErrBadInput.Name, "the input of %s: %w", describing, err)
	}
	d, known := p.description(of)
	if !known {
		return sabir.Errorf(sabir.ErrActionNotFound.Code, sabir.ErrActionNotFound.Name, "the Moleculer node %s does not offer %.200q", p.id, cmp.Or(of.Action, of.Service))
	}
	if text, err = json.Codec.Append(nil, d); err != nil {
		return sabir.AsError(err)
	}
	return r.DecodeOutput(json.Codec, text)
}

// description takes from INFO what it has of an action, or of the events that a service listens to.
func (p *peer) description(of description.Request) (d description.Document, known bool) {
	action := cmp.Or(p.offers.Load().full[of.Action], of.Action)
	p.bridge.peers.mu.Lock()
	services := p.info.Services // which are replaced, and not changed
	p.bridge.peers.mu.Unlock()
	for i := range services {
		s := &services[i]
		full, _ := s.full()
		if a, has := s.Actions[action]; has && of.Action != "" {
			d.In, d.Out = a.schema(), &schema.Schema{}
			return d, true
		}
		if of.Action != "" || full != of.Service {
			continue
		}
		known = true
		for key, e := range s.Events {
			if l, ok := subscriptionOf(full, s.Name, key, e); ok {
				d.Messages = append(d.Messages, description.Message{Kind: "event", Name: l.Pattern, Service: full, Group: l.Group, Type: &schema.Schema{}})
			}
		}
	}
	slices.SortFunc(d.Messages, func(a, b description.Message) int { return strings.Compare(a.Name, b.Name) })
	return d, known
}

// maxTypeText bounds the text of an input in listings.
const maxTypeText = 200

// typeText writes the type of an input for listings: "{id: number, tags?: []string}".
func typeText(s *schema.Schema) string {
	var out strings.Builder
	writeType(&out, s)
	if text := out.String(); len(text) > maxTypeText {
		return strings.ToValidUTF8(text[:maxTypeText-len("…")], "") + "…"
	}
	return out.String()
}

func writeType(out *strings.Builder, s *schema.Schema) {
	if out.Len() > maxTypeText || s == nil {
		return
	}
	rest, _ := s.Nullable()
	switch {
	case len(rest.AnyOf) > 0:
		for i := range rest.AnyOf {
			if i > 0 {
				out.WriteString(" | ")
			}
			writeType(out, &rest.AnyOf[i])
		}
	case len(rest.Type) != 1:
		out.WriteString("any")
	case len(rest.Properties) > 0:
		out.WriteByte('{')
		for i, member := range rest.Properties {
			if i > 0 {
				out.WriteString(", ")
			}
			out.WriteString(memberName(member.Name))
			if !slices.Contains(rest.Required, member.Name) {
				out.WriteByte('?')
			}
			out.WriteString(": ")
			writeType(out, member.Schema)
		}
		out.WriteByte('}')
	case rest.Type[0] == "array":
		out.WriteString("[]")
		writeType(out, cmp.Or(rest.Items, &schema.Schema{}))
	case rest.Format == "date-time":
		out.WriteString("time")
	default:
		out.WriteString(rest.Type[0])
	}
}

// memberName is the name of a member, in quotes where it is no word.
func memberName(name string) string {
	if strings.Trim(name, aliasName) != "" {
		return strconv.Quote(name)
	}
	return name
}
