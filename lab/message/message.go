// Package message has the message of the RPC comparison: 677 bytes, as a plain Go struct and as protobuf.
//
// The fields, their numbers and types are those of the rpcx benchmark's proto3 BenchmarkMessage, filled as go-micro's
// benchmark fills it: every string a Chinese sentence of 66 bytes, every number 100000, every bool true.
package message

// The generators and their versions: protoc 3.21.12, protoc-gen-go v1.36.12, protoc-gen-go-grpc v1.6.2,
// protoc-gen-go-drpc v1.0.0.
//
//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative --go-drpc_out=. --go-drpc_opt=paths=source_relative --go-vtproto_out=. --go-vtproto_opt=paths=source_relative,features=marshal+unmarshal+size message.proto

// What the message holds.
const (
	// Sentence has 22 Chinese characters, 66 bytes.
	Sentence = "地中海每一个港口，八百年来都说同一种贸易语。"
	Number   = 100000

	// RequestBytes and ReplyBytes are the sizes as protobuf.
	RequestBytes = 677
	ReplyBytes   = 611
)

// Message is the message as a plain Go struct, with its fields in the order of the .proto file.
type Message struct {
	Field1   string
	Field9   string
	Field18  string
	Field80  bool
	Field81  bool
	Field2   int32
	Field3   int32
	Field280 int32
	Field6   int32
	Field22  int64
	Field4   string
	Field5   []uint64
	Field59  bool
	Field7   string
	Field16  int32
	Field130 int32
	Field12  bool
	Field17  bool
	Field13  bool
	Field14  bool
	Field104 int32
	Field100 int32
	Field101 int32
	Field102 string
	Field103 string
	Field29  int32
	Field30  bool
	Field60  int32
	Field271 int32
	Field272 int32
	Field150 int32
	Field23  int32
	Field24  bool
	Field25  int32
	Field78  bool
	Field67  int32
	Field68  int32
	Field128 int32
	Field129 string
	Field131 int32
}

// New returns the request. Each caller sets Field3 and Field131 to numbers of its own with [Message.Mark].
func New() *Message {
	return &Message{
		Field1:   Sentence,
		Field9:   Sentence,
		Field18:  Sentence,
		Field80:  true,
		Field81:  true,
		Field2:   Number,
		Field3:   Number,
		Field280: Number,
		Field6:   Number,
		Field22:  Number,
		Field4:   Sentence,
		Field59:  true,
		Field7:   Sentence,
		Field16:  Number,
		Field130: Number,
		Field12:  true,
		Field17:  true,
		Field13:  true,
		Field14:  true,
		Field104: Number,
		Field100: Number,
		Field101: Number,
		Field102: Sentence,
		Field103: Sentence,
		Field29:  Number,
		Field30:  true,
		Field60:  Number,
		Field271: Number,
		Field272: Number,
		Field150: Number,
		Field23:  Number,
		Field24:  true,
		Field25:  Number,
		Field78:  true,
		Field67:  Number,
		Field68:  Number,
		Field128: Number,
		Field129: Sentence,
		Field131: Number,
	}
}

// NewProto returns the request as protobuf.
func NewProto() *Proto {
	return &Proto{
		Field1:   Sentence,
		Field9:   Sentence,
		Field18:  Sentence,
		Field80:  true,
		Field81:  true,
		Field2:   Number,
		Field3:   Number,
		Field280: Number,
		Field6:   Number,
		Field22:  Number,
		Field4:   Sentence,
		Field59:  true,
		Field7:   Sentence,
		Field16:  Number,
		Field130: Number,
		Field12:  true,
		Field17:  true,
		Field13:  true,
		Field14:  true,
		Field104: Number,
		Field100: Number,
		Field101: Number,
		Field102: Sentence,
		Field103: Sentence,
		Field29:  Number,
		Field30:  true,
		Field60:  Number,
		Field271: Number,
		Field272: Number,
		Field150: Number,
		Field23:  Number,
		Field24:  true,
		Field25:  Number,
		Field78:  true,
		Field67:  Number,
		Field68:  Number,
		Field128: Number,
		Field129: Sentence,
		Field131: Number,
	}
}
