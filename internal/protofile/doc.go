// Package protofile writes the actions of a node as a file of Protocol Buffers (proto3), for callers that generate their code
// from one: a service for each service, an rpc for each action, a message for each type.
//
// # Numbers of fields
//
// The fields of a message have the numbers that package codec/protobuf gives them: those of their tags (`protobuf:"3"`), or the number after that
// of the field before, from 1. So a field that is added at the end changes no number of another, while one that is added in between, moved or
// removed changes those behind it, and callers that were generated before would misread bytes. A [Lock], a list of the numbers that were
// given out, to be stored beside the file, has Write refuse that with the tags that give the fields their numbers back. The
// numbers and names of fields that went are reserved.
//
// # Types
//
//	string                          string; of enums too, whose values are in a comment, since the JSON has names and no numbers
//	integer of format int32, int64 …  int32, int64, uint32, uint64; of format int and uint int64 and uint64
//	number                          double; of format float float
//	boolean                         bool
//	bytes as base64                 bytes
//	date-time                       google.protobuf.Timestamp
//	duration in nanoseconds         google.protobuf.Duration
//	list                            repeated; of lists and of what may be null in between, a message with "repeated … value"
//	map                             map<string, …>, or of the type of its keys; with keys that Protocol Buffers has no maps by, a list of entries
//	what is other bytes than JSON   bytes, string or the scalar that codec/protobuf writes ("x-protobuf-type" of the schema)
//	anything                        google.protobuf.Value
//	null                            google.protobuf.NullValue
//	may be null or missing          optional, unless it is a message, which may be missing anyway; a list in a message
//
// A type that is an input and an output is one message, as long as its fields are the same both ways. Inputs and outputs that are no objects become messages with the one field "value"; none becomes
// google.protobuf.Empty. A stream is an rpc that streams both ways, or one way where that is its shape.
package protofile
