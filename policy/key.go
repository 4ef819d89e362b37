package policy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/sabir-go/sabir"
)

// keys makes the keys of one action's calls from their inputs and metadata.
type keys struct {
	paths  []string
	own    *keyPlan // for the action's own input type; nil for an action of another node
	others sync.Map // reflect.Type to *keyPlan: for whatever types the callers of another node's action use
}

// newKeys compiles the paths for the action's input type. No path at all stands for the whole input.
func newKeys(a *sabir.Action, paths []string) (*keys, error) {
	k := &keys{paths: paths}
	if a.In == nil {
		return k, nil
	}
	plan, err := compileKey(a.In, paths)
	if err != nil {
		return nil, fmt.Errorf("the input of %s: %w", a.Name, err)
	}
	k.own = plan
	return k, nil
}

// of finds the plan for an input type. For a caller's type that has no such field, every call goes without a key.
func (k *keys) of(in reflect.Type) *keyPlan {
	if k.own != nil {
		return k.own
	}
	if known, ok := k.others.Load(in); ok {
		return known.(*keyPlan)
	}
	plan, err := compileKey(in, k.paths)
	if err != nil {
		plan = &keyPlan{write1: func(w *keyWriter, _ context.Context, _ unsafe.Pointer) { w.bad = true }}
	}
	known, _ := k.others.LoadOrStore(in, plan)
	return known.(*keyPlan)
}

// writePart appends one part of a key, drawn from the context or from the input at p.
type writePart func(w *keyWriter, ctx context.Context, p unsafe.Pointer)

// keyPlan is the compiled key of one input type. The first part stands by itself, as most keys have no other.
type keyPlan struct {
	write1 writePart
	more   []writePart
}

// write leaves the key in w.buf, unless it sets w.bad.
func (k *keyPlan) write(w *keyWriter, ctx context.Context, r *sabir.Request) {
	p := reflect.ValueOf(r.Input()).UnsafePointer()
	if node := r.ToNode(); node == "" {
		w.buf = append(w.buf, plainKey)
	} else { // another node's answer is none to a call that names its node
		w.buf = append(w.buf, nodeKey)
		w.text(node)
	}
	k.write1(w, ctx, p)
	for _, write := range k.more {
		write(w, ctx, p)
	}
	if len(w.buf) > maxKeyLength && !w.bad {
		sum := sha256.Sum256(w.buf)
		w.buf = append(append(w.buf[:0], hashedKey), sum[:]...)
	}
}

// A key begins with a byte that reports whether it is written out, alone or behind the node that the call names, or, being long, its SHA-256 (FIPS 180-4).
const (
	plainKey     = 0
	hashedKey    = 1
	nodeKey      = 2
	maxKeyLength = 1024
)

func compileKey(in reflect.Type, paths []string) (*keyPlan, error) {
	var parts []writePart
	for _, path := range paths {
		part, err := compilePath(in, path)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if len(paths) == 0 {
		whole, err := writerOf(in)
		if err != nil {
			return nil, err
		}
		parts = append(parts, func(w *keyWriter, _ context.Context, p unsafe.Pointer) { whole.write(w, p) })
	}
	return &keyPlan{parts[0], parts[1:]}, nil
}

func compilePath(in reflect.Type, path string) (writePart, error) {
	if name, ok := strings.CutPrefix(path, "#"); ok {
		if name == "" {
			return nil, fmt.Errorf(`the key "#" lacks the name of the metadata`)
		}
		if found := fieldsAlong(in, path); len(found) > 0 {
			return nil, fmt.Errorf("the key %q may mean the metadata or the field %s of %v: rename the field in JSON", path, found[0].StructField.Name, in)
		}
		return func(w *keyWriter, ctx context.Context, _ unsafe.Pointer) { writeMetadata(w, ctx, name) }, nil
	}
	for step := range strings.SplitSeq(path, ".") {
		if step == "" {
			return nil, fmt.Errorf("the key %q has a step without a name; leave Keys out to take the whole input", path)
		}
	}
	write, err := compileField(in, path)
	if err != nil {
		return nil, err
	}
	return func(w *keyWriter, _ context.Context, p unsafe.Pointer) { write(w, p) }, nil
}

func writeMetadata(w *keyWriter, ctx context.Context, name string) {
	value, ok := sabir.InfoFromContext(ctx).Metadata[name]
	if !ok {
		w.buf = append(w.buf, missing)
		return
	}
	w.buf = append(w.buf, present)
	w.text(value)
}

// Each place at which a way may end early has one of these before what is there, so that a way that ends, at a nil pointer or
// where there is no such entry, is distinguished from each one that goes on, also to null, "" or 0.
const (
	missing = 0
	present = 1
	typed   = 2 // in an interface: the name of the type follows, then what a path of that type writes
)

var keyWriters = sync.Pool{New: func() any { return &keyWriter{buf: make([]byte, 0, 128)} }}

func takeKeyWriter() *keyWriter { return keyWriters.Get().(*keyWriter) }

// put gives the writer back. Writers that grew far are left to the garbage collector.
func (w *keyWriter) put() {
	if cap(w.buf) > 64<<10 {
		return
	}
	w.buf, w.depth, w.bad = w.buf[:0], 0, false
	keyWriters.Put(w)
}
