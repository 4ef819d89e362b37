// Package json is the JSON codec: the format for users, browsers and programs in other languages. It registers itself as "json".
//
// # What it accepts
//
// JSON as RFC 8259 defines it, with the rules that RFC 7493 (I-JSON) adds. Decode refuses
//
//   - an object with the same name twice, at any depth, even in a part that the target has no field for,
//   - text that is not valid UTF-8, and half of a surrogate pair (\ud800),
//   - anything but white space after the value, and an empty body,
//   - objects and arrays nested deeper than 128 or than Config.MaxDepth,
//   - a number that the target cannot hold: one that is too large, or for an integer one with a fraction or exponent,
//   - an array of another length than the Go array it is for.
//
// Names of members are matched with their case: "Name" is not "name". A member whose name differs from that of a field in its
// case only is refused: to skip it would lose what its writer meant, and to take it would let one document mean two things.
// Other members that the target has no field for are checked and skipped, so that a peer may be newer; a codec made with
// Strict of [Config] refuses them.
//
// # What values look like
//
// As encoding/json writes them, with its struct tags and its methods MarshalJSON, MarshalText and so on, so that a
// peer that uses encoding/json reads what Append writes:
//
//	bool, string, numbers   true, "text", 12.5; int64 and uint64 exactly, all digits
//	[]byte                  a string in base64 (RFC 4648, section 4)
//	time.Time               a string in RFC 3339 with nanoseconds
//	time.Duration           a number: nanoseconds
//	struct                  an object, its members in the order of the fields
//	map                     an object, its members sorted by name, so equal values give equal bytes
//	[N]T, also [N]byte      an array
//	nil pointer, nil any    null
//
// It differs from encoding/json in these points:
//
//   - a nil slice is [] and a nil map is {} (nil []byte is ""), never null: clients in other languages loop over them
//     without a check. Decode makes both from null, and an empty, not nil, slice from [].
//   - the characters <, > and & are written as they are.
//   - a string that is not valid UTF-8 is an error, as are NaN and the infinities in both packages.
//   - json.Number of encoding/json is a string when the program is built with a Go release before 1.27. Use
//     json.RawMessage for a number of any size.
//
// A number for a target of type any becomes a float64, as in encoding/json, and so loses digits beyond 2^53: give the
// target an integer type where that matters.
//
// # How it works
//
// The types and texts that occur most are written and read by this package, over a type that is compiled once. Everything else
// is done by github.com/go-json-experiment/json, the code of Go's encoding/json/v2: types with methods of their own, maps whose
// keys are not strings, tags with other options than omitempty and omitzero, texts in unusual forms, and every text with
// a fault in it, so that errors and meanings are the library's. What both can do they do alike, which the tests compare.
//
// Short strings of one text share blocks of up to 1 KiB, so a string that is kept can hold up to that much. Strings and
// numbers in values of type any lie together in groups of up to 8, so such a value can hold up to 8 KiB. Names of up to 32 bytes
// that become keys of maps are shared between texts: for each processor that decodes, 128 of them are kept.
//
// Decoding takes memory in proportion to the text. Measured in the worst case, [[],[],...] into any, it takes 73
// bytes for each byte of text, garbage included. A target of type []T takes up to the size of T for each two bytes
// ("0,"). Bound the length of the text with that in mind.
//
// Decode merges into what the target holds already: fields that data does not mention keep their values, and entries
// are added to a map. Give it a fresh value to get exactly the value of data.
//
// A type's own UnmarshalJSON sees text that has passed all checks above, and must not keep it.
package json
