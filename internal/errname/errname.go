// Package errname has the names of errors of the runtime that several packages make and no program has a reason to match.
package errname

// The names, as they go over the wire. Package sabir says in error.go what each means.
const (
	BadKey               = "BadKey"
	BadName              = "BadName"
	BadOption            = "BadOption"
	BadOutput            = "BadOutput"
	BulkheadFull         = "BulkheadFull"
	CrossOrigin          = "CrossOrigin"
	HeadTooLarge         = "HeadTooLarge"
	InputTooLarge        = "InputTooLarge"
	JoinFailed           = "JoinFailed"
	MethodNotAllowed     = "MethodNotAllowed"
	NoCommonCodec        = "NoCommonCodec"
	NoStream             = "NoStream"
	NotANode             = "NotANode"
	StreamTooSlow        = "StreamTooSlow"
	StreamWanted         = "StreamWanted"
	TooManyAbandoned     = "TooManyAbandoned"
	TooManyLevels        = "TooManyLevels"
	TooManyStreams       = "TooManyStreams"
	UnsupportedMediaType = "UnsupportedMediaType"
)
