// Package protonames lets one program link libraries whose protobuf messages have the same names. Hollywood and
// protoactor-go both call one actor.PID, at which google.golang.org/protobuf ends the program before main begins. With
// this package it keeps the first of both under that name; each library goes on to use its own type, and neither sends
// such a message by its name here.
//
// It works because Go initializes packages in the order of their import paths where nothing else decides (Go
// specification, "Program initialization"): this one depends on os alone, and stands before google.golang.org.
package protonames

import "os"

func init() { os.Setenv("GOLANG_PROTOBUF_REGISTRATION_CONFLICT", "ignore") }
