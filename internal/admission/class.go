package admission

// Class orders what waits: a lower one goes first.
type Class uint8

// The classes there are. Nested is a normal request that is part of another one, begun before it: to refuse it wastes what was done.
const (
	Critical Class = iota
	Nested
	Normal
	Sheddable
)

// Classes is the number of them.
const Classes = 4

// MetadataKey is the key of a call's metadata that has its priority. It travels with the call, and on with the calls nested in it.
const MetadataKey = "sabir-priority"

// The values of the metadata. A call without it is a normal one.
const (
	CriticalValue  = "critical"
	SheddableValue = "sheddable"
)

// ClassOf returns the class of a request with a priority, at a level of nesting.
func ClassOf(priority string, level int) Class {
	switch {
	case priority == CriticalValue:
		return Critical
	case priority == SheddableValue:
		return Sheddable
	case level > 0:
		return Nested
	}
	return Normal
}
