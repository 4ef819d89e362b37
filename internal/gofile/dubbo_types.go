package gofile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/javaclass"
)

const (
	observer = "org.apache.dubbo.common.stream.StreamObserver"
	// maxAncestors bounds the classes and interfaces that one inherits from, and maxType the parts of a type.
	maxAncestors = 200
	maxType      = 1000
)

// plainTypes are the Go types of types of Java that are never null, or whose null is the zero value.
var plainTypes = map[string]string{
	"boolean": "bool", "byte": "int8", "char": "string", "short": "int16", "int": "int32", "long": "int64", "float": "float32", "double": "float64",
	"java.lang.String": "string", "java.lang.CharSequence": "string", "java.lang.Character": "string", "java.math.BigDecimal": "hessian.Decimal", "java.math.BigInteger": "*big.Int",
	"java.lang.Object": "any", "java.io.Serializable": "any",
}

// boxedTypes are those that null has no value of, where nothing contains them.
var boxedTypes = map[string]string{
	"java.lang.Boolean": "bool", "java.lang.Byte": "int8", "java.lang.Short": "int16", "java.lang.Integer": "int32", "java.lang.Long": "int64",
	"java.lang.Float": "float32", "java.lang.Double": "float64",
	"java.util.Date": "time.Time",
}

var lists = []string{"java.util.List", "java.util.Collection", "java.lang.Iterable", "java.util.ArrayList", "java.util.LinkedList", "java.util.Set", "java.util.HashSet",
	"java.util.LinkedHashSet", "java.util.TreeSet", "java.util.SortedSet", "java.util.Queue", "java.util.Deque"}

var mapTypes = []string{"java.util.Map", "java.util.HashMap", "java.util.LinkedHashMap", "java.util.TreeMap", "java.util.SortedMap", "java.util.concurrent.ConcurrentMap",
	"java.util.concurrent.ConcurrentHashMap"}

// broad are the lists and maps that Java's Hessian makes of those without a type. It makes others where a method or a field has their class, but not within lists and maps.
var broad = []string{"java.util.List", "java.util.Collection", "java.lang.Iterable", "java.util.ArrayList", "java.util.Map", "java.util.HashMap"}

// narrow are the types that Java's Hessian reads as Integer or Double within lists and maps.
var narrow = []string{"java.lang.Byte", "java.lang.Short", "java.lang.Float", "java.lang.Character"}

// timeFields are the fields of the classes of java.time as Dubbo's Hessian writes them: the class has another name there, which ends with Handle.
var timeFields = map[string]string{
	"LocalDate":      "Year int32 `json:\"year\"`\nMonth int32 `json:\"month\"`\nDay int32 `json:\"day\"`\n",
	"LocalTime":      "Hour int32 `json:\"hour\"`\nMinute int32 `json:\"minute\"`\nSecond int32 `json:\"second\"`\nNano int32 `json:\"nano\"`\n",
	"LocalDateTime":  "Date *LocalDate `json:\"date\"`\nTime *LocalTime `json:\"time\"`\n",
	"Instant":        "Seconds int64 `json:\"seconds\"`\nNanos int32 `json:\"nanos\"`\n",
	"Duration":       "Seconds int64 `json:\"seconds\"`\nNanos int32 `json:\"nanos\"`\n",
	"Period":         "Years int32 `json:\"years\"`\nMonths int32 `json:\"months\"`\nDays int32 `json:\"days\"`\n",
	"Year":           "Year int32 `json:\"year\"`\n",
	"YearMonth":      "Year int32 `json:\"year\"`\nMonth int32 `json:\"month\"`\n",
	"MonthDay":       "Month int32 `json:\"month\"`\nDay int32 `json:\"day\"`\n",
	"ZoneOffset":     "Seconds int32 `json:\"seconds\"`\n",
	"OffsetDateTime": "DateTime *LocalDateTime `json:\"dateTime\"`\nOffset *ZoneOffset `json:\"offset\"`\n",
	"ZonedDateTime":  "DateTime *LocalDateTime `json:\"dateTime\"`\nOffset *ZoneOffset `json:\"offset\"`\nZoneID string `json:\"zoneId\"`\n",
}

const (
	timePackage   = "java.time."
	handlePackage = "com.alibaba.com.caucho.hessian.io.java8."
)

// sqlTypes are dates which Java's Hessian writes and reads as objects, except in fields: where a method has one, it refuses a java.util.Date, and in a list it leaves that.
var sqlTypes = []string{"java.sql.Timestamp", "java.sql.Date", "java.sql.Time"}

// signature writes what a method takes and gives in the terms of a contract. An input that needs a type gets its name from that of the contract.
func (f *dubboFile) signature(m dubboMethod, name string) (in, out string, types []string, maker, shape string) {
	list, erased, result := m.In, m.Erased, m.Out
	maker = "NewAction"
	f.scope, f.within = nil, ""
	switch last := len(list) - 1; {
	case last == 0 && list[0].Name == observer && result.Name == observer:
		return f.value(m.fill(argument(result))), f.value(m.fill(argument(list[0]))), nil, "NewStream", ""
	case last >= 0 && list[last].Name == observer && result.Name == "void":
		maker, shape, result = "NewStream", "ServerStream", argument(list[last])
		list, erased = list[:last], erased[:last]
		out = f.value(m.fill(result))
	case strings.HasSuffix(result.Name, ".CompletableFuture") || strings.HasSuffix(result.Name, ".CompletionStage"):
		result = argument(result)
	}
	if out == "" {
		out = "sabir.Empty"
		if result.Name != "void" && result.Name != "java.lang.Void" {
			out = f.typeOf(m.fill(result))
		}
	}
	if len(list) == 0 {
		return "sabir.Empty", out, erased, maker, shape
	}
	if len(list) == 1 {
		text := f.typeOf(m.fill(list[0]))
		if f.isStruct(list[0]) {
			text = strings.TrimPrefix(text, "*") // whose fields are those of the one argument
		}
		if text != "any" && !strings.HasPrefix(text, "*") {
			return text, out, erased, maker, shape
		}
	}
	in = f.take(name + "Input")
	taken := make(map[string]bool)
	var fields strings.Builder
	for i, t := range list {
		argument := "arg" + strconv.Itoa(i+1)
		if m.Names != nil {
			argument = m.Names[i]
		}
		fmt.Fprintf(&fields, "%s %s `json:%q dubbo:\"%d\"`\n", unique(exported(argument), taken), f.typeOf(m.fill(t)), argument, i+1)
	}
	f.printf("// %s has the arguments of %s.\ntype %s struct {\n%s}\n\n", in, javaText(m.Method), in, fields.String())
	return in, out, erased, maker, shape
}

// argument is the one argument of a generic type.
func argument(t javaclass.Type) javaclass.Type {
	if len(t.Of) == 1 {
		return t.Of[0]
	}
	return javaclass.Type{Name: "java.lang.Object"}
}

// fill is a type of the method with what the parameters of its interface are.
func (m dubboMethod) fill(t javaclass.Type) javaclass.Type {
	return fill(t, m.given)
}

// fill puts types in the place of variables.
func fill(t javaclass.Type, given map[string]javaclass.Type) javaclass.Type {
	if t.Variable {
		if of, has := given[t.Name]; has {
			of.Arrays += t.Arrays
			return of
		}
	}
	if len(t.Of) > 0 {
		of := make([]javaclass.Type, len(t.Of))
		for i, one := range t.Of {
			of[i] = fill(one, given)
		}
		t.Of = of
	}
	return t
}

func size(t javaclass.Type) int {
	n := 1
	for _, of := range t.Of {
		n += size(of)
	}
	return n
}

// lineage calls visit with a class and all above it that are known, and with what their parameters are: the classes that it extends, or the interfaces.
func (f *dubboFile) lineage(name string, given map[string]javaclass.Type, visit func(*javaclass.Class, map[string]javaclass.Type), interfaces bool) error {
	left := maxAncestors
	var walk func(name string, given map[string]javaclass.Type) error
	walk = func(name string, given map[string]javaclass.Type) error {
		if left--; left < 0 {
			return fmt.Errorf("%s inherits from more than %d types", name, maxAncestors)
		}
		c := f.classes[name]
		if c == nil {
			if name != "" && !strings.HasPrefix(name, "java.") {
				f.note("%s %s, so what is inherited from it is missing", name, f.whyMissing(name))
			}
			return nil
		}
		visit(c, given)
		above := []javaclass.Type{c.Super}
		if interfaces {
			above = c.Interfaces
		}
		for _, t := range above {
			t = fill(t, given)
			if size(t) > maxType {
				return errors.New(name + " inherits from a type with too many arguments")
			}
			next := make(map[string]javaclass.Type)
			if of := f.classes[t.Name]; of != nil && len(of.Parameters) == len(t.Of) {
				for i, p := range of.Parameters {
					next[p.Name] = t.Of[i]
				}
			}
			if err := walk(t.Name, next); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(name, given)
}

// whyMissing says why a class is not there.
func (f *dubboFile) whyMissing(class string) string {
	if fault := f.faults[class]; fault != nil {
		return fmt.Sprintf("cannot be read (%v)", fault)
	}
	return "was not in what was read"
}

// value is the type of a value that is never null.
func (f *dubboFile) value(t javaclass.Type) string {
	text := f.typeOf(t)
	if text == "*big.Int" || text == "*hessian.Map" || text == "*hessian.Exception" {
		return text
	}
	return strings.TrimPrefix(text, "*")
}

// contained is the type of the elements of a list or a map.
func (f *dubboFile) contained(t javaclass.Type) string {
	text := f.element(t)
	switch {
	case t.Arrays == 0 && slices.Contains(narrow, t.Name):
		f.note("in lists and maps, Java gets an Integer, Double or String for each %s", t.Name)
	case (strings.HasPrefix(text, "[]") && text != "[]byte" || strings.HasPrefix(text, "map[")) && (t.Arrays > 0 || !slices.Contains(broad, t.Name)):
		f.note("in lists and maps, Java gets an ArrayList or HashMap for each %s", typeText(t))
	}
	return text
}

// element is the type of what an array, a list or a map has, where null is left to objects.
func (f *dubboFile) element(t javaclass.Type) string {
	if t.Arrays == 0 && (boxedTypes[t.Name] != "" || strings.HasPrefix(t.Name, timePackage) || slices.Contains(sqlTypes, t.Name)) {
		f.note("in arrays, lists and maps, a null number, boolean or time is the zero value, and goes back as that: put a * before the type where there are nulls")
		return strings.TrimPrefix(f.typeOf(t), "*")
	}
	return f.typeOf(t)
}

// typeOf is the Go type of a type of Java.
func (f *dubboFile) typeOf(t javaclass.Type) string {
	if t.Arrays > 0 {
		t.Arrays--
		switch {
		case t.Arrays == 0 && t.Name == "byte":
			return "[]byte"
		case t.Arrays == 0 && t.Name == "char":
			return "string" // as Java writes and reads it
		}
		return "[]" + f.element(t)
	}
	if t.Variable {
		if f.scope[t.Name] {
			return exported(t.Name)
		}
		return "any"
	}
	if text := plainTypes[t.Name]; text != "" {
		f.use(text)
		return text
	}
	if text := boxedTypes[t.Name]; text != "" {
		f.use(text)
		return "*" + text
	}
	switch {
	case slices.Contains(lists, t.Name):
		return "[]" + f.contained(argument(t))
	case slices.Contains(mapTypes, t.Name):
		return f.mapOf(t)
	case strings.HasPrefix(t.Name, timePackage) && timeFields[t.Name[len(timePackage):]] != "":
		return "*" + f.nameOf(t.Name)
	case slices.Contains(sqlTypes, t.Name):
		f.use("time.")
		return "*" + f.nameOf(t.Name)
	}
	return f.classOf(t)
}

// use imports the package of a type.
func (f *dubboFile) use(text string) {
	switch {
	case strings.Contains(text, "time."):
		f.imports["time"] = true
	case strings.Contains(text, "big."):
		f.imports["math/big"] = true
	case strings.Contains(text, "hessian."):
		f.imports["github.com/sabir-go/sabir/codec/hessian"] = true
	}
}

func (f *dubboFile) mapOf(t javaclass.Type) string {
	const textsOnly = "a map without a class of its keys has texts as keys here: one with others is refused"
	if len(t.Of) != 2 {
		f.note(textsOnly)
		return "map[string]any"
	}
	key, value := f.contained(t.Of[0]), f.contained(t.Of[1])
	c := f.classes[t.Of[0].Name]
	switch {
	case key == "string", key == "bool", integers[key] != "", c != nil && c.Enum && t.Of[0].Arrays == 0:
		return "map[" + key + "]" + value
	case t.Of[0].Name == "java.lang.Object":
		f.note(textsOnly)
		return "map[string]" + value
	}
	f.note("a map with keys of %s is a *hessian.Map", typeText(t.Of[0]))
	f.use("hessian.")
	return "*hessian.Map"
}

// isStruct reports whether a class becomes a struct.
func (f *dubboFile) isStruct(t javaclass.Type) bool {
	c := f.classes[t.Name]
	return t.Arrays == 0 && !t.Variable && c != nil && !c.Enum && strings.HasPrefix(f.typeOf(javaclass.Type{Name: t.Name}), "*") && !f.throwable(t.Name)
}

// classOf is the Go type of a class of the jars.
func (f *dubboFile) classOf(t javaclass.Type) string {
	c := f.classes[t.Name]
	switch {
	case c == nil && strings.HasPrefix(t.Name, "java."):
		f.note("%s is any, since Hessian has no form for it that is known here", t.Name)
		return "any"
	case c == nil && !f.throwable(t.Name):
		f.note("%s is any, since it %s", t.Name, f.whyMissing(t.Name))
		return "any"
	case f.throwable(t.Name):
		f.use("hessian.")
		return "*hessian.Exception"
	case c.Enum:
		return f.nameOf(t.Name)
	case f.isMessage(t.Name):
		f.note("%s is any, since it is a message of Protocol Buffers", t.Name)
		return "any"
	case c.Interface || c.Abstract:
		f.note("%s is any: it takes and gives pointers to its classes, which are registered", t.Name)
		f.nameBelow(t.Name, make(map[string]bool))
		return "any"
	case f.ends(t.Name, func(name string) bool { return strings.HasPrefix(name, "java.util.") }):
		f.note("%s is any, since it extends a class of java.util", t.Name)
		return "any"
	}
	if len(f.below[t.Name]) > 0 {
		f.note("of objects of classes that extend %s, only the fields of %s are kept", t.Name, simpleName(t.Name))
	}
	name := "*" + f.nameOf(t.Name)
	if len(c.Parameters) == 0 {
		return name
	}
	of := make([]string, len(c.Parameters))
	for i := range of {
		if of[i] = "any"; len(t.Of) == len(of) && (f.within != t.Name || t.Of[i].Variable) { // Go has no type that contains itself with ever longer arguments
			of[i] = f.contained(t.Of[i])
		}
	}
	return name + "[" + strings.Join(of, ", ") + "]"
}

// nameBelow names the classes that objects of an interface or an abstract class may have.
func (f *dubboFile) nameBelow(name string, seen map[string]bool) {
	for _, below := range f.below[name] {
		if seen[below] {
			continue
		}
		seen[below] = true
		if c := f.classes[below]; !c.Interface && !c.Abstract && len(c.Parameters) == 0 && !c.Enum {
			f.nameOf(below)
		}
		f.nameBelow(below, seen)
	}
}

// ends reports whether one of the classes that a class extends is such.
func (f *dubboFile) ends(name string, such func(string) bool) bool {
	for range maxAncestors {
		if such(name) {
			return true
		}
		c := f.classes[name]
		if c == nil {
			return false
		}
		name = c.Super.Name
	}
	return false
}

func (f *dubboFile) throwable(name string) bool {
	return f.ends(name, func(name string) bool {
		return name == "java.lang.Throwable" || strings.HasPrefix(name, "java.") && (strings.HasSuffix(name, "Exception") || strings.HasSuffix(name, "Error"))
	})
}

func (f *dubboFile) isMessage(name string) bool {
	return f.ends(name, func(name string) bool { return strings.HasPrefix(name, "com.google.protobuf.") })
}

// ofProtobuf reports whether values of a method are messages of Protocol Buffers.
func (f *dubboFile) ofProtobuf(m dubboMethod) bool {
	return slices.ContainsFunc(append([]javaclass.Type{m.Out}, m.In...), func(t javaclass.Type) bool {
		if t.Name == observer {
			t = argument(t)
		}
		return f.isMessage(t.Name)
	})
}
