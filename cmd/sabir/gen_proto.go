package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/protofile"
)

var protoGenerator = generator{
	name:  "proto",
	short: "Write a .proto file",
	long: `Writes a file of Protocol Buffers (proto3): a service for each service, an rpc
for each action, a message for each type.

A file is of one package. Services are in a package of their own each, unless
rpc.Package gives them one in common: --package chooses. Of a server that answers
no gRPC all services are written, in any package.

Fields have the numbers of their tags (protobuf:"3"), or the one after that of the
field before, as they have over gRPC. So a field that is added in between changes
the numbers behind it. --lock guards them: it names a file that remembers which
numbers were given, to be kept with the sources. A field with another number is
refused, with the tag that gives it back; sabir gen diff --lock tells the same.`,
	example: `  sabir gen proto -o shop.proto --lock shop.proto.lock
  sabir gen proto https://api.example.com --package shop.v1 > shop.proto`,
	prepare: func(command *cobra.Command) func(w io.Writer, a api.API) error {
		var options protofile.Options
		var lock string
		flags := command.Flags()
		flags.StringVar(&options.Package, "package", "", "the package whose services are written (default the only one there is)")
		flags.StringVar(&options.GoPackage, "go-package", "", "the option go_package of the file")
		flags.StringVar(&lock, "lock", "", "the file of the numbers that fields have; made where it is not there yet")
		return func(w io.Writer, a api.API) error { return writeProto(w, a, options, lock) }
	},
}

// writeProto writes the file, and brings the lock up to date.
func writeProto(w io.Writer, a api.API, options protofile.Options, lock string) error {
	if lock == "" {
		return protofile.Write(w, a, options)
	}
	before, err := os.ReadFile(lock)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usagef("the lock cannot be read: %v", err)
	}
	if options.Lock, err = parseLock(lock, before); err != nil {
		return err
	}
	if err := protofile.Write(w, a, options); err != nil {
		return failf("the lock %s guards the numbers of fields:\n%v", lock, err)
	}
	after, err := json.MarshalIndent(options.Lock, "", "  ") // in the order of names
	if err != nil {
		return err
	}
	if after = append(after, '\n'); bytes.Equal(before, after) {
		return nil
	}
	return replaceFile(lock, after)
}

// parseLock reads the text of a lock, which is empty for one that is to be made.
func parseLock(name string, text []byte) (protofile.Lock, error) {
	lock := protofile.Lock{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &lock); err != nil {
			return nil, usagef("the lock %s cannot be read: %v", name, err)
		}
	}
	return lock, nil
}
