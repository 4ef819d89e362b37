// Package protobuf is the engine of package codec/protobuf, which says what it writes and refuses, and describes Go types for files of
// Protocol Buffers.
//
// A Go type is compiled once into a message of proto3, which [Descriptor] describes.
package protobuf
