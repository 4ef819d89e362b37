package kubernetes

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/grainstore"
)

// object is a Lease of coordination.k8s.io/v1, as far as it is used here.
type object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       spec     `json:"spec"`
}

type metadata struct {
	Name            string            `json:"name"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	UID             string            `json:"uid,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
}

type spec struct {
	HolderIdentity string `json:"holderIdentity,omitempty"`
	RenewTime      string `json:"renewTime,omitempty"` // when it was written, for people and for what is tidied up
}

// microTime is the form of Kubernetes' MicroTime.
const microTime = "2006-01-02T15:04:05.000000Z07:00"

const (
	managedLabel    = "app.kubernetes.io/managed-by"
	goneLabel       = "sabir.dev/gone" // its value is the prefix
	kindAnnotation  = "sabir.dev/kind"
	keyAnnotation   = "sabir.dev/key" // quoted, as a key is any bytes
	tokenAnnotation = "sabir.dev/token"
	textAnnotation  = "sabir.dev/state" // a state that is text, so that people can read it
	bytesAnnotation = "sabir.dev/bytes" // any other, in base64
)

// subdomain is the form of the names of objects (RFC 1123), which most kinds have.
var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// name returns the name of the object for a key. The key stands in it as a hash, since names have letters of one case and at most 253 bytes.
func (b *backend) name(kind, key string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + key))
	if !subdomain.MatchString(kind) {
		kind = "kind"
	}
	return b.prefix + "-" + kind + "-" + hex.EncodeToString(sum[:16])
}

func (b *backend) object(kind, key string, slot grainstore.Slot) object {
	o := object{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
	o.Metadata = metadata{
		Name:   b.name(kind, key),
		Labels: map[string]string{managedLabel: "sabir"},
		Annotations: map[string]string{
			kindAnnotation: kind, keyAnnotation: strconv.QuoteToASCII(key), tokenAnnotation: slot.Token.String(),
		},
	}
	o.Spec = spec{HolderIdentity: b.holder, RenewTime: time.Now().UTC().Format(microTime)}
	if slot.Gone {
		o.Metadata.Labels[goneLabel] = b.prefix
		o.Spec.HolderIdentity = ""
	} else if utf8.Valid(slot.State) {
		o.Metadata.Annotations[textAnnotation] = string(slot.State)
	} else {
		o.Metadata.Annotations[bytesAnnotation] = base64.StdEncoding.EncodeToString(slot.State)
	}
	return o
}

// patch makes a version of the object into this one, as a JSON merge patch (RFC 7396): what it does not have is null.
func (o *object) patch(version uint64) any {
	or := func(values map[string]string, name string) any {
		if value, is := values[name]; is {
			return value
		}
		return nil
	}
	annotations := map[string]any{textAnnotation: or(o.Metadata.Annotations, textAnnotation), bytesAnnotation: or(o.Metadata.Annotations, bytesAnnotation)}
	for name, value := range o.Metadata.Annotations {
		annotations[name] = value
	}
	holder := any(o.Spec.HolderIdentity)
	if holder == "" {
		holder = nil
	}
	return map[string]any{
		"metadata": map[string]any{
			"resourceVersion": strconv.FormatUint(version, 10),
			"labels":          map[string]any{goneLabel: or(o.Metadata.Labels, goneLabel)},
			"annotations":     annotations,
		},
		"spec": map[string]any{"holderIdentity": holder, "renewTime": o.Spec.RenewTime},
	}
}

// version is the object's resourceVersion. Clients may take it for an integer that grows (Kubernetes enhancement 5504).
func (o *object) version() (uint64, error) {
	v, err := strconv.ParseUint(o.Metadata.ResourceVersion, 10, 64)
	if err != nil || v == 0 {
		return 0, fmt.Errorf("%w: the API server gave the version %.40q, which is no number", store.ErrOutcomeUnknown, o.Metadata.ResourceVersion)
	}
	return v, nil
}

func (o *object) slot() (grainstore.Slot, error) {
	version, err := o.version()
	if err != nil {
		return grainstore.Slot{}, err
	}
	slot := grainstore.Slot{Version: version, Token: grainstore.ParseToken(o.Metadata.Annotations[tokenAnnotation])}
	if text, is := o.Metadata.Annotations[textAnnotation]; is {
		slot.State = []byte(text)
	} else if text, is := o.Metadata.Annotations[bytesAnnotation]; !is {
		slot.Gone = true
	} else if slot.State, err = base64.StdEncoding.DecodeString(text); err != nil {
		return grainstore.Slot{}, fmt.Errorf("the Lease %s has a state that was not written by this package: %w", o.Metadata.Name, err)
	}
	return slot, nil
}

// deletion is the body that deletes the object if it is still this version.
func deletion(o object) any {
	return map[string]any{
		"apiVersion": "v1", "kind": "DeleteOptions",
		"preconditions": map[string]string{"uid": o.Metadata.UID, "resourceVersion": o.Metadata.ResourceVersion},
	}
}
