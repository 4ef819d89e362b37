package protobuf

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sabir-go/sabir/internal/layout"
	"github.com/sabir-go/sabir/internal/protoname"
)

// descriptors holds the results of Descriptor: reflect.Type to protoreflect.MessageDescriptor.
var descriptors sync.Map

// Descriptor returns the message that values of t are written as. That of a generated message is its own. All messages
// derived for t stand in one file, which [protoreflect.MessageDescriptor.ParentFile] returns; it is not registered
// anywhere. The descriptor of a type is made once.
func Descriptor(t reflect.Type) (protoreflect.MessageDescriptor, error) {
	if t == nil {
		return nil, fault(-1, "no type to describe")
	}
	if known, ok := descriptors.Load(t); ok {
		return known.(protoreflect.MessageDescriptor), nil
	}
	if t.Kind() == reflect.Pointer && t.Implements(messageType) {
		return reflect.Zero(t).Interface().(proto.Message).ProtoReflect().Descriptor(), nil
	}
	m, wrong := planOf(t)
	if wrong != nil {
		return nil, wrong
	}
	made, err := newDescriber(m.typ.Go).describe(m)
	if err != nil {
		return nil, fmt.Errorf("protobuf: %s has no descriptor: %w", t, err)
	}
	kept, _ := descriptors.LoadOrStore(t, made)
	return kept.(protoreflect.MessageDescriptor), nil
}

// Describer adds the messages that values of Go types are written as to one file, which may have services too. It is for one
// goroutine.
type Describer struct {
	file  *descriptorpb.FileDescriptorProto
	names map[described]string
	taken map[string]bool
}

// described identifies a message of a file: that of a Go type, or, boxed, the one whose only field holds a value of a type that has no
// message of its own.
type described struct {
	typ   reflect.Type
	boxed bool
}

// NewDescriber returns a describer for a file that has its package. Names of services and messages that the file has already are
// given to no other message.
func NewDescriber(file *descriptorpb.FileDescriptorProto) *Describer {
	d := &Describer{file: file, names: make(map[described]string), taken: make(map[string]bool)}
	for _, s := range file.GetService() {
		d.taken[s.GetName()] = true
	}
	for _, m := range file.GetMessageType() {
		d.taken[m.GetName()] = true
	}
	return d
}

// Message adds the message of t, and those within it, unless the file has them. It returns the full name with a dot before it, as
// descriptors refer to it. A generated message is imported, and so is google.protobuf.Empty for struct{}.
func (d *Describer) Message(t reflect.Type) (string, error) {
	switch {
	case t == nil:
		return "", fault(-1, "no type to describe")
	case t.Kind() == reflect.Pointer && t.Implements(messageType):
		return d.imported(reflect.Zero(t).Interface().(proto.Message).ProtoReflect().Descriptor()), nil
	case t == emptyType, t == reflect.PointerTo(emptyType):
		return d.imported((*emptypb.Empty)(nil).ProtoReflect().Descriptor()), nil
	}
	m, err := planOf(t)
	if err != nil {
		return "", err
	}
	return d.message(m), nil
}

var emptyType = reflect.TypeFor[struct{}]()

func newDescriber(t reflect.Type) *Describer {
	name := "sabir"
	if path := t.PkgPath(); path != "" {
		name = strings.ToLower(layout.Identifier(path[strings.LastIndexByte(path, '/')+1:]))
	}
	return NewDescriber(&descriptorpb.FileDescriptorProto{Syntax: new("proto3"), Package: &name})
}

func (d *Describer) describe(m *message) (protoreflect.MessageDescriptor, error) {
	name := d.message(m)
	name = name[strings.LastIndexByte(name, '.')+1:]
	d.file.Name = new(d.file.GetPackage() + "/" + name + ".proto")
	file, err := protodesc.NewFile(d.file, protoregistry.GlobalFiles)
	if err != nil {
		return nil, err
	}
	return file.Messages().ByName(protoreflect.Name(name)), nil
}

// message adds m and returns its full name.
func (d *Describer) message(m *message) string {
	key := described{m.typ.Go, m.typ.Boxed}
	if name, ok := d.names[key]; ok {
		return name
	}
	name := d.free(typeName(m.typ))
	full := "." + d.file.GetPackage() + "." + name
	d.names[key] = full
	out := &descriptorpb.DescriptorProto{Name: &name}
	d.file.MessageType = append(d.file.MessageType, out)
	own := make(map[string]bool)
	for i := range m.fields {
		d.field(out, full, &m.fields[i], own)
	}
	return full
}

// free is name, or name and a number where it is taken.
func (d *Describer) free(name string) string {
	unique := name
	for i := 2; d.taken[unique]; i++ {
		unique = fmt.Sprintf("%s%d", name, i)
	}
	d.taken[unique] = true
	return unique
}

// field adds f to the message out. own has the names that are taken in it.
func (d *Describer) field(out *descriptorpb.DescriptorProto, full string, f *field, own map[string]bool) {
	wish := protoname.Field(f.name)
	name := wish
	bare := func() string { return strings.ReplaceAll(name, "_", "") } // in which JSON's names must differ too
	for i := 2; own[bare()]; i++ {
		name = fmt.Sprintf("%s%d", wish, i)
	}
	own[bare()] = true
	described := &descriptorpb.FieldDescriptorProto{
		Name: &name, JsonName: new(protoname.JSON(name)), Number: new(int32(f.number)),
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	}
	out.Field = append(out.Field, described)
	switch f.shape {
	case list, array:
		described.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	case mapping:
		described.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		described.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
		described.TypeName = new(full + "." + d.entry(out, full, f, name))
		return
	}
	described.Type, described.TypeName = d.kind(&f.value)
	if (f.shape == optional || f.shape == always) && described.GetType() != descriptorpb.FieldDescriptorProto_TYPE_MESSAGE {
		described.Proto3Optional = new(true)
		described.OneofIndex = new(int32(len(out.GetOneofDecl())))
		out.OneofDecl = append(out.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: new("_" + name)})
	}
}

// entry adds the message that a map repeats and returns its name, which for a real map is fixed by its field's.
func (d *Describer) entry(out *descriptorpb.DescriptorProto, full string, f *field, name string) string {
	entry := &descriptorpb.DescriptorProto{Name: new(protoname.Message(name) + "Entry")}
	for i := range f.value.msg.fields {
		part := &f.value.msg.fields[i]
		described := &descriptorpb.FieldDescriptorProto{
			Name: &part.name, JsonName: &part.name, Number: new(int32(part.number)),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
		described.Type, described.TypeName = d.kind(&part.value)
		entry.Field = append(entry.Field, described)
	}
	if f.value.msg.entry {
		entry.Options = &descriptorpb.MessageOptions{MapEntry: new(true)}
	}
	out.NestedType = append(out.NestedType, entry)
	return entry.GetName()
}

var scalarTypes = map[layout.Kind]descriptorpb.FieldDescriptorProto_Type{
	layout.Bool: descriptorpb.FieldDescriptorProto_TYPE_BOOL,
	layout.Int8: descriptorpb.FieldDescriptorProto_TYPE_INT32, layout.Int16: descriptorpb.FieldDescriptorProto_TYPE_INT32,
	layout.Int32: descriptorpb.FieldDescriptorProto_TYPE_INT32, layout.Int64: descriptorpb.FieldDescriptorProto_TYPE_INT64,
	layout.Uint8: descriptorpb.FieldDescriptorProto_TYPE_UINT32, layout.Uint16: descriptorpb.FieldDescriptorProto_TYPE_UINT32,
	layout.Uint32: descriptorpb.FieldDescriptorProto_TYPE_UINT32, layout.Uint64: descriptorpb.FieldDescriptorProto_TYPE_UINT64,
	layout.Float32: descriptorpb.FieldDescriptorProto_TYPE_FLOAT, layout.Float64: descriptorpb.FieldDescriptorProto_TYPE_DOUBLE,
	layout.String: descriptorpb.FieldDescriptorProto_TYPE_STRING, layout.Text: descriptorpb.FieldDescriptorProto_TYPE_STRING,
	layout.Bytes: descriptorpb.FieldDescriptorProto_TYPE_BYTES, layout.ByteArray: descriptorpb.FieldDescriptorProto_TYPE_BYTES,
	layout.Binary: descriptorpb.FieldDescriptorProto_TYPE_BYTES,
}

// kind is the type of a field and, for a message, its name.
func (d *Describer) kind(v *value) (*descriptorpb.FieldDescriptorProto_Type, *string) {
	if v.kind == layout.Int32 && v.typ.Go.Implements(enumType) {
		enum := reflect.Zero(v.typ.Go).Interface().(protoreflect.Enum).Descriptor()
		return descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum(), new(d.imported(enum))
	}
	if scalar, ok := scalarTypes[v.kind]; ok {
		return scalar.Enum(), nil
	}
	var name string
	switch v.kind {
	case layout.Time:
		name = d.imported((*timestamppb.Timestamp)(nil).ProtoReflect().Descriptor())
	case kindDuration:
		name = d.imported((*durationpb.Duration)(nil).ProtoReflect().Descriptor())
	case layout.Any:
		name = d.imported((*structpb.Value)(nil).ProtoReflect().Descriptor())
	case layout.Custom:
		name = d.imported(reflect.Zero(v.typ.Go).Interface().(proto.Message).ProtoReflect().Descriptor())
	default:
		name = d.message(v.msg)
	}
	return descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), &name
}

// imported adds the file of m to the imports and returns the full name of m.
func (d *Describer) imported(m protoreflect.Descriptor) string {
	path := m.ParentFile().Path()
	if !slices.Contains(d.file.GetDependency(), path) {
		d.file.Dependency = append(d.file.Dependency, path)
	}
	return "." + string(m.FullName())
}

var enumType = reflect.TypeFor[protoreflect.Enum]()

// typeName returns the name of the message for t.
func typeName(t *layout.Type) string { return protoname.Message(t.Name()) }
