// Package errname has the names of errors of the runtime that several packages make and no program has a reason to match.
package errname

// The names, as they go over the wire. Package sabir says in error.go what each means.
const (
	BadName              = "BadName"
	BadOption            = "BadOption"
	CrossOrigin          = "CrossOrigin"
	HeadTooLarge         = "HeadTooLarge"
	MethodNotAllowed     = "MethodNotAllowed"
	NoCommonCodec        = "NoCommonCodec"
	NoStream             = "NoStream"
	NotANode             = "NotANode"
	StreamWanted         = "StreamWanted"
	TooManyAbandoned     = "TooManyAbandoned"
	TooManyLevels        = "TooManyLevels"
	UnsupportedMediaType = "UnsupportedMediaType"
)
