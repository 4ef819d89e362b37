// Package option finds options that are given twice although each of the two would undo the other.
package option

import (
	"fmt"
	"path"
	"runtime"
	"strconv"
)

// Site is a line of a program, where something was declared. File and line are looked up only when they are printed.
type Site uintptr

// Caller is the line that called the exported function which calls Caller.
func Caller() Site {
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	return Site(pc[0])
}

// String is the file, with its folder, and the line: "shop/main.go:12".
func (s Site) String() string {
	frame, _ := runtime.CallersFrames([]uintptr{uintptr(s)}).Next()
	if frame.File == "" {
		return "?"
	}
	return path.Join(path.Base(path.Dir(frame.File)), path.Base(frame.File)) + ":" + strconv.Itoa(frame.Line)
}

// Given remembers the options that can be given once only, and where each was given.
type Given []given

type given struct {
	name string
	at   Site
}

// Again notes an option and returns the error of one that is there already; nil for the first.
func (g *Given) Again(name string, at Site) error {
	for _, other := range *g {
		if other.name == name {
			return fmt.Errorf("%s: %s is given twice, and each would undo the other; the first is at %s", at, name, other.at)
		}
	}
	*g = append(*g, given{name, at})
	return nil
}
