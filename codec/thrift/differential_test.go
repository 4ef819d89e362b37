package thrift_test

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"testing"
	"time"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/thrift"
)

type point struct {
	X int32
	Y int32
}

// everything has a field of each kind. Its methods Write and Read do the same as those that the Thrift compiler generates.
type everything struct {
	Bool   bool             `thrift:"1"`
	I8     int8             `thrift:"2"`
	I16    int16            `thrift:"3"`
	I32    int32            `thrift:"4"`
	I64    int64            `thrift:"5"`
	Double float64          `thrift:"6"`
	Text   string           `thrift:"7"`
	Bytes  []byte           `thrift:"40"`
	List   []int64          `thrift:"41"`
	Bools  []bool           `thrift:"42"`
	Map    map[string]int32 `thrift:"43"`
	Point  point            `thrift:"44"`
	Points []point          `thrift:"45"`
	No     bool             `thrift:"9"` // a number below that of the field before
	U64    uint64           `thrift:"10"`
}

func full() everything {
	return everything{true, -8, -16, math.MinInt32, math.MaxInt64, -0.1, "żółw", []byte{0, 255}, []int64{1, -1, 1 << 40}, []bool{true, false},
		map[string]int32{"a": -1}, point{1, -2}, []point{{}, {3, 4}}, false, math.MaxUint64}
}

// script writes v by the calls that generated code makes.
func (v everything) Write(ctx context.Context, p apache.TProtocol) error {
	var failed error
	must := func(err error) {
		if failed == nil {
			failed = err
		}
	}
	begin := func(t apache.TType, id int16) { must(p.WriteFieldBegin(ctx, "field", t, id)) }
	end := func() { must(p.WriteFieldEnd(ctx)) }
	writePoint := func(v point) {
		must(p.WriteStructBegin(ctx, "point"))
		begin(apache.I32, 1)
		must(p.WriteI32(ctx, v.X))
		end()
		begin(apache.I32, 2)
		must(p.WriteI32(ctx, v.Y))
		end()
		must(p.WriteFieldStop(ctx))
		must(p.WriteStructEnd(ctx))
	}
	must(p.WriteStructBegin(ctx, "everything"))
	begin(apache.BOOL, 1)
	must(p.WriteBool(ctx, v.Bool))
	end()
	begin(apache.I08, 2)
	must(p.WriteByte(ctx, v.I8))
	end()
	begin(apache.I16, 3)
	must(p.WriteI16(ctx, v.I16))
	end()
	begin(apache.I32, 4)
	must(p.WriteI32(ctx, v.I32))
	end()
	begin(apache.I64, 5)
	must(p.WriteI64(ctx, v.I64))
	end()
	begin(apache.DOUBLE, 6)
	must(p.WriteDouble(ctx, v.Double))
	end()
	begin(apache.STRING, 7)
	must(p.WriteString(ctx, v.Text))
	end()
	begin(apache.STRING, 40)
	must(p.WriteBinary(ctx, v.Bytes))
	end()
	begin(apache.LIST, 41)
	must(p.WriteListBegin(ctx, apache.I64, len(v.List)))
	for _, n := range v.List {
		must(p.WriteI64(ctx, n))
	}
	must(p.WriteListEnd(ctx))
	end()
	begin(apache.LIST, 42)
	must(p.WriteListBegin(ctx, apache.BOOL, len(v.Bools)))
	for _, b := range v.Bools {
		must(p.WriteBool(ctx, b))
	}
	must(p.WriteListEnd(ctx))
	end()
	begin(apache.MAP, 43)
	must(p.WriteMapBegin(ctx, apache.STRING, apache.I32, len(v.Map)))
	for key, n := range v.Map {
		must(p.WriteString(ctx, key))
		must(p.WriteI32(ctx, n))
	}
	must(p.WriteMapEnd(ctx))
	end()
	begin(apache.STRUCT, 44)
	writePoint(v.Point)
	end()
	begin(apache.LIST, 45)
	must(p.WriteListBegin(ctx, apache.STRUCT, len(v.Points)))
	for _, one := range v.Points {
		writePoint(one)
	}
	must(p.WriteListEnd(ctx))
	end()
	begin(apache.BOOL, 9)
	must(p.WriteBool(ctx, v.No))
	end()
	begin(apache.I64, 10)
	must(p.WriteI64(ctx, int64(v.U64)))
	end()
	must(p.WriteFieldStop(ctx))
	must(p.WriteStructEnd(ctx))
	return failed
}

// tree reads any struct by the library alone, as field numbers and values.
func tree(t *testing.T, p apache.TProtocol, wire apache.TType) any {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var v any
	var err error
	switch wire {
	case apache.BOOL:
		v, err = p.ReadBool(ctx)
	case apache.I08:
		v, err = p.ReadByte(ctx)
	case apache.I16:
		v, err = p.ReadI16(ctx)
	case apache.I32:
		v, err = p.ReadI32(ctx)
	case apache.I64:
		v, err = p.ReadI64(ctx)
	case apache.DOUBLE:
		v, err = p.ReadDouble(ctx)
	case apache.STRING:
		v, err = p.ReadString(ctx)
	case apache.LIST:
		elem, n, wrong := p.ReadListBegin(ctx)
		check(wrong)
		list := []any{}
		for range n {
			list = append(list, tree(t, p, elem))
		}
		v, err = list, p.ReadListEnd(ctx)
	case apache.MAP:
		key, elem, n, wrong := p.ReadMapBegin(ctx)
		check(wrong)
		made := map[any]any{}
		for range n {
			name := tree(t, p, key)
			made[name] = tree(t, p, elem)
		}
		v, err = made, p.ReadMapEnd(ctx)
	case apache.STRUCT:
		_, wrong := p.ReadStructBegin(ctx)
		check(wrong)
		fields := map[int16]any{}
		for {
			_, wire, id, wrong := p.ReadFieldBegin(ctx)
			check(wrong)
			if wire == apache.STOP {
				break
			}
			fields[id] = tree(t, p, wire)
			check(p.ReadFieldEnd(ctx))
		}
		v, err = fields, p.ReadStructEnd(ctx)
	default:
		t.Fatalf("no such type: %v", wire)
	}
	check(err)
	return v
}

var protocols = map[string]struct {
	codec   codec.Codec
	library func(apache.TTransport) apache.TProtocol
}{
	"binary":  {thrift.Codec, func(t apache.TTransport) apache.TProtocol { return apache.NewTBinaryProtocolConf(t, nil) }},
	"compact": {thrift.Compact, func(t apache.TTransport) apache.TProtocol { return apache.NewTCompactProtocolConf(t, nil) }},
}

func TestBytesAreThoseOfGeneratedCode(t *testing.T) {
	for name, p := range protocols {
		t.Run(name, func(t *testing.T) {
			buffer := apache.NewTMemoryBuffer()
			if err := full().Write(t.Context(), p.library(buffer)); err != nil {
				t.Fatal(err)
			}
			theirs := buffer.Bytes()
			ours, err := p.codec.Append(nil, full())
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(ours, theirs) {
				t.Errorf("got  %x\nwant %x", ours, theirs)
			}
			var got everything
			if err := p.codec.Decode(theirs, &got); err != nil || !reflect.DeepEqual(got, full()) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestTheLibraryReadsWhatHasNoTypeInThrift(t *testing.T) {
	type inner struct{ A int8 }
	small := int16(3)
	type mixed struct {
		U8   uint8
		U32  uint32
		F    float32
		Hash [3]byte
		At   time.Time
		P    *int16
		None *int16
		In   *inner
		Deep []*int16
		Any  any
		Keys map[uint16]inner
		Grid [2][]bool
	}
	v := mixed{200, 1 << 31, 0.5, [3]byte{1, 2, 3}, time.Unix(-1, 5), &small, nil, &inner{1}, []*int16{&small, nil},
		map[string]any{"a": []any{nil, 1, 2.5, true, "x", []byte("b")}}, map[uint16]inner{60000: {7}}, [2][]bool{{true}, {}}}
	type object = map[int16]any
	want := object{1: int16(200), 2: int64(1 << 31), 3: 0.5, 4: "\x01\x02\x03", 5: object{1: int64(-1), 2: int32(5)}, 6: int16(3), 8: object{1: int8(1)},
		9:  []any{object{1: int16(3)}, object{}},
		10: object{7: map[any]any{"a": object{6: []any{object{}, object{2: int64(1)}, object{3: 2.5}, object{1: true}, object{4: "x"}, object{5: "b"}}}}},
		11: map[any]any{int32(60000): object{1: int8(7)}}, 12: []any{[]any{true}, []any{}}}
	for name, p := range protocols {
		t.Run(name, func(t *testing.T) {
			data, err := p.codec.Append(nil, v)
			if err != nil {
				t.Fatal(err)
			}
			buffer := &apache.TMemoryBuffer{Buffer: bytes.NewBuffer(data)}
			if got := tree(t, p.library(buffer), apache.STRUCT); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
			if buffer.Len() > 0 {
				t.Errorf("%d bytes are left", buffer.Len())
			}
			var back mixed
			if err := p.codec.Decode(data, &back); err != nil {
				t.Fatal(err)
			}
			if *back.P != 3 || back.None != nil || *back.Deep[0] != 3 || back.Deep[1] != nil || !back.At.Equal(v.At) || back.Keys[60000].A != 7 {
				t.Errorf("got %+v", back)
			}
		})
	}
}

func TestSetsAreReadAsLists(t *testing.T) {
	type holder struct{ Names []string }
	for name, p := range protocols {
		buffer := apache.NewTMemoryBuffer()
		library, ctx := p.library(buffer), t.Context()
		for _, err := range []error{
			library.WriteStructBegin(ctx, ""), library.WriteFieldBegin(ctx, "", apache.SET, 1), library.WriteSetBegin(ctx, apache.STRING, 1),
			library.WriteString(ctx, "a"), library.WriteSetEnd(ctx), library.WriteFieldStop(ctx), library.WriteStructEnd(ctx),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		var got holder
		if err := p.codec.Decode(buffer.Bytes(), &got); err != nil || len(got.Names) != 1 || got.Names[0] != "a" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
