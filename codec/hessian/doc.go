// Package hessian is the Hessian 2.0 codec: the format of Java services that speak Dubbo, HSF or Caucho's own protocol.
// It registers itself as "hessian". The source is the specification at
// http://hessian.caucho.com/doc/hessian-serialization.html and, where that is silent, what Caucho's Java library
// (com.caucho:hessian 4.0.66) writes and reads.
//
// # What values look like
//
//	Go                                      on the wire and in Java
//	bool                                    boolean
//	int8, int16, int32, uint8, uint16       int
//	int, int64, uint, uint32, uint64        long; above 2^63-1 a java.math.BigInteger
//	float32, float64                        double
//	string                                  string
//	[]byte, [N]byte                         binary, byte[]
//	time.Time                               date: milliseconds, no zone
//	time.Duration                           long: nanoseconds
//	[]T, [N]T                               list without a type, java.util.ArrayList
//	map[K]V                                 map without a type, java.util.HashMap
//	struct                                  the same, its fields by name; see below
//	nil pointer, slice, map or interface    null
//	*big.Int, big.Int                       java.math.BigInteger
//	[Decimal]                               java.math.BigDecimal
//	[Object], [List], [Map]                 any class, any type of list or map
//	[Exception]                             a Throwable
//	types with MarshalText                  string
//
// Names of fields come from the tag hessian:"name", then json:"name", then the field's name in Go. The option omitempty
// leaves an empty field out of a map; an object always has all fields of its class. When reading, a field also takes
// its name with the first letter in the other case, since Java's fields start with a small one.
//
// A type that was given to [Register] takes its Java name: a struct becomes an object of that class, a named string type
// an enum, a named slice or map a list or map of that type. A struct without a Java name is a map, because that is what
// others can read: Java fills a bean of the class that its method declares from it, and hessian.js makes a plain object
// of it; an unknown class would be an error there.
//
// # Reading
//
// A target of a Go type takes every value that fits it, whatever Java called it: a list of any type for a slice, and an
// EnumSet as Dubbo writes it, a map or an object of any class for a struct or a map, any number that the target can hold for a number (a double must
// be a whole number to be an integer), null for everything (the zero value). Fields that the target does not have are
// skipped. A target of type any takes
//
//	boolean, string, binary, date           bool, string, []byte, time.Time (UTC)
//	int, long, double                       int32, int64, float64
//	list                                    []any
//	map                                     map[string]any, or *Map if a key is no string
//	list or map with a type                 *List, *Map
//	object                                  a pointer to the registered Go struct, or *Object
//	enum                                    the registered Go type, or *Object with the field "name"
//	BigDecimal, BigInteger                  Decimal, *big.Int
//	boxed Byte, Short, Float                int8, int16, float32
//	java.sql.Date, Time, Timestamp          time.Time
//
// Nothing on the wire can make a Go type that the target does not have and that was not registered.
//
// # References
//
// A pointer to a struct, a map or a slice that occurs twice is written once and then referred to, as Java does it, so
// shared values stay shared and cycles come back as cycles. Strings, dates and []byte have no number in Hessian and are
// written each time. A reference may be read into any type that fits; where one value is read into two Go types, each
// type has its own copy. A cycle can end in a pointer, a map, a slice or an any; one that ends in a struct by value is
// an error. What references to structs by value repeat is bounded by 64 times the data, or 1 MiB, and what is read again for
// another type by 8 times the data and 4 KiB.
//
// # Limits
//
// Lists, maps and objects nest up to 128 deep, in both directions. A count is checked against the bytes that are
// left before memory is taken for it. Strings must be valid UTF-8 to be written. On the wire a character beyond the basic
// plane is two surrogates of three bytes each, as in Java; UTF-8's four bytes are read as well, and a lone surrogate is
// read as U+FFFD. A date beyond the range of Java's milliseconds is an error, and what is below a millisecond is cut off.
package hessian
