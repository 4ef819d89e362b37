package mcp

import "errors"

// The errors of arguments, in words for models.
var (
	errNoObject = errors.New("the arguments have to be an object")
	errNoInput  = errors.New(`the arguments lack the member "` + inputMember + `", which is the whole input`)
)
