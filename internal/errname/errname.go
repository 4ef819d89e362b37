// Package errname has the names of errors of the runtime that several packages make and no program has a reason to match.
package errname

// The names, as they go over the wire. Package sabir says in error.go what each means.
const (
	CrossOrigin          = "CrossOrigin"
	HeadTooLarge         = "HeadTooLarge"
	MethodNotAllowed     = "MethodNotAllowed"
	NoStream             = "NoStream"
	NotANode             = "NotANode"
	UnsupportedMediaType = "UnsupportedMediaType"
)
