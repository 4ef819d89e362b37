package codec_test

import (
	"testing"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/avro"
	"github.com/sabir-go/sabir/codec/cbor"
	"github.com/sabir-go/sabir/codec/gob"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/codec/thrift"
	"github.com/sabir-go/sabir/internal/native"
)

func TestTheCodecThatAPackageExportsIsTheOneThatItRegisters(t *testing.T) {
	for name, exported := range map[string]codec.Codec{
		"avro": avro.Codec, "cbor": cbor.Codec, "gob": gob.Codec, "hessian": hessian.Codec, json.Name: json.Codec,
		"msgpack": msgpack.Codec, native.Name: native.Codec(), "protobuf": protobuf.Codec, "thrift": thrift.Codec,
		"thrift-compact": thrift.Compact,
	} {
		registered, ok := codec.Lookup(name)
		if !ok || exported != registered || exported.Name() != name {
			t.Errorf("%s: the package exports %v and registers %v", name, exported, registered)
		}
	}
}
