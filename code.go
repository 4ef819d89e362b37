package sabir

import "fmt"

// Code is the class of an [Error]: what kind of thing went wrong, whatever the service. The set and the numbers are
// those of gRPC (https://grpc.io/docs/guides/status-codes), so a code means to a Go programmer what it always meant.
type Code uint8

// The codes. Their HTTP and gRPC status are in docs/errors.md, which a test holds against this file.
const (
	OK                 Code = 0  // not an error; never the code of an Error
	Canceled           Code = 1  // the caller gave up
	Unknown            Code = 2  // a plain Go error from a handler
	InvalidArgument    Code = 3  // the input is wrong, whatever the state of the service
	DeadlineExceeded   Code = 4  // the deadline passed first; the work may still have been done
	NotFound           Code = 5  // the action, or the thing asked for, does not exist
	AlreadyExists      Code = 6  // the thing to create is there already
	PermissionDenied   Code = 7  // the caller is known and may not
	ResourceExhausted  Code = 8  // a limit was reached: rate, queue, quota
	FailedPrecondition Code = 9  // the state of the service forbids it; do not retry before the state changed
	Aborted            Code = 10 // a conflict with another call
	OutOfRange         Code = 11 // past the end of something
	Unimplemented      Code = 12 // not offered
	Internal           Code = 13 // a fault of the service: a panic, a broken invariant
	Unavailable        Code = 14 // not reachable now; trying again may help
	DataLoss           Code = 15 // data is gone or damaged
	Unauthenticated    Code = 16 // the caller is not known
)

// codes is the one table of a code's name and statuses, indexed by the code, which is its gRPC status too.
var codes = [...]struct {
	name      string
	http      int
	retryable bool
}{
	OK:                 {"OK", 200, false},
	Canceled:           {"Canceled", 499, false},
	Unknown:            {"Unknown", 500, false},
	InvalidArgument:    {"InvalidArgument", 400, false},
	DeadlineExceeded:   {"DeadlineExceeded", 504, false},
	NotFound:           {"NotFound", 404, false},
	AlreadyExists:      {"AlreadyExists", 409, false},
	PermissionDenied:   {"PermissionDenied", 403, false},
	ResourceExhausted:  {"ResourceExhausted", 429, true},
	FailedPrecondition: {"FailedPrecondition", 409, false},
	Aborted:            {"Aborted", 409, false},
	OutOfRange:         {"OutOfRange", 400, false},
	Unimplemented:      {"Unimplemented", 501, false},
	Internal:           {"Internal", 500, false},
	Unavailable:        {"Unavailable", 503, true},
	DataLoss:           {"DataLoss", 500, false},
	Unauthenticated:    {"Unauthenticated", 401, false},
}

// String is the code's name, such as "NotFound".
func (c Code) String() string {
	if int(c) < len(codes) {
		return codes[c].name
	}
	return fmt.Sprintf("Code(%d)", uint8(c))
}

// HTTPStatus is the HTTP status for errors of this code; 500 for a code that is not in the table.
func (c Code) HTTPStatus() int {
	if int(c) < len(codes) {
		return codes[c].http
	}
	return 500
}

// GRPCStatus is the gRPC status number for errors of this code; 2 (UNKNOWN) for a code that is not in the table.
func (c Code) GRPCStatus() int {
	if int(c) < len(codes) {
		return int(c)
	}
	return int(Unknown)
}

// MarshalText gives the name, for JSON and for logs.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name; one that is not in the table is an error.
func (c *Code) UnmarshalText(text []byte) error {
	for i := range codes {
		if codes[i].name == string(text) {
			*c = Code(i)
			return nil
		}
	}
	return fmt.Errorf("sabir: no error code is called %q", text)
}
