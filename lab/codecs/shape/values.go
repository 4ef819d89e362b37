package shape

// Text is the string's value.
const Text = "Ergo Framework"

// The values of the other shapes.
func NewPID() PID             { return PID{Node: "demo@127.0.0.1", ID: 312, Creation: 2} }
func NewProcessID() ProcessID { return ProcessID{Name: "example", Node: "demo@127.0.0.1"} }
func NewSimple() Simple       { return Simple{A: 123.45, B: 678.90, C: "test"} }

func NewComplex() Complex {
	return Complex{
		Name: "test", ID: 123, Tags: []string{"tag1", "tag2"},
		Metadata:  map[string]string{"key1": "value1", "key2": "value2"},
		PID:       PID{Node: "node1", ID: 1, Creation: 1},
		ProcessID: ProcessID{Name: "process1", Node: "node1"},
	}
}

func NewNested() Nested {
	return Nested{
		Name: "test", ID: 123, Complex: NewComplex(),
		ComplexMap: map[string]Complex{"key1": NewComplex()},
		NestedMap:  map[string]string{"key1": "value1", "key2": "value2"},
	}
}

func NewItems() Items {
	return Items{"key1": {Name: "test1", ID: 123}, "key2": {Name: "test2", ID: 456}}
}

func NewGroups() Groups {
	return Groups{
		"outer1": {"inner1": {Name: "test1", ID: 123}, "inner2": {Name: "test2", ID: 456}},
		"outer2": {"inner3": {Name: "test3", ID: 789}},
	}
}
