package hessian

import (
	"fmt"
	"unsafe"
)

// Exception is a Java Throwable. It is an error whose text is that of Java's toString, and errors.Unwrap gives its cause. Causes that
// were decoded come to an end, whatever the peer sent.
type Exception struct {
	Class      string // such as "java.lang.IllegalStateException"
	Message    string // "" also where Java has null
	Cause      *Exception
	StackTrace StackTrace // the innermost call first
	Suppressed []*Exception
	Fields     []Field // what the class has beyond Throwable
}

// StackTrace is a Java StackTraceElement[].
type StackTrace []StackTraceElement

// StackTraceElement is one line of a Java stack trace.
type StackTraceElement struct {
	Class  string `hessian:"declaringClass"`
	Method string `hessian:"methodName"`
	File   string `hessian:"fileName"`
	Line   int32  `hessian:"lineNumber"`
}

func init() {
	Register[StackTraceElement]("java.lang.StackTraceElement")
	Register[StackTrace]("[java.lang.StackTraceElement")
}

// Error returns the class and the message, such as "java.lang.IllegalStateException: closed".
func (x *Exception) Error() string {
	if x.Message == "" {
		return x.Class
	}
	return x.Class + ": " + x.Message
}

// Unwrap returns the cause, or nil.
func (x *Exception) Unwrap() error {
	if x.Cause == nil || x.Cause == x {
		return nil
	}
	return x.Cause
}

// The fields of Throwable. Java represents a missing cause by a cause that is the exception itself.
const (
	fieldMessage    = "detailMessage"
	fieldCause      = "cause"
	fieldTrace      = "stackTrace"
	fieldSuppressed = "suppressedExceptions"
)

var (
	messagePlan    = mustPlan[string]()
	causePlan      = mustPlan[*Exception]()
	tracePlan      = mustPlan[StackTrace]()
	suppressedPlan = mustPlan[[]*Exception]()
)

// exception appends x, which was numbered last.
func (e *Encoder) exception(dst []byte, x *Exception) []byte {
	if x.Class == "" {
		return e.fail(dst, "an Exception without a Class")
	}
	number := e.count - 1
	dst = e.instance(dst, e.shape(x.Class, x.Fields, fieldMessage, fieldCause, fieldTrace, fieldSuppressed))
	if x.Message == "" {
		dst = append(dst, tagNull)
	} else {
		dst = e.string(dst, x.Message)
	}
	if x.Cause == nil {
		dst = appendRef(dst, number)
	} else {
		dst = e.value(dst, causePlan, unsafe.Pointer(&x.Cause))
	}
	if e.fault != nil {
		return dst
	}
	trace := x.StackTrace
	if trace == nil {
		trace = StackTrace{} // older releases of Java do not bear a null here
	}
	dst = e.value(dst, tracePlan, unsafe.Pointer(&trace))
	if e.fault != nil {
		return dst
	}
	dst = e.value(dst, suppressedPlan, unsafe.Pointer(&x.Suppressed))
	for i := range x.Fields {
		if e.fault != nil {
			return dst
		}
		dst = e.any(dst, x.Fields[i].Value)
	}
	return dst
}

// exception reads an object into an Exception.
func (d *Decoder) exception(p *plan, at unsafe.Pointer, tag byte) bool {
	start, x := d.pos, (*Exception)(at)
	*x = Exception{}
	if !isObject(tag) {
		return d.mismatch("object")
	}
	class, ok := d.instance()
	if !ok {
		return false
	}
	number := d.begin(start, p, at)
	var names []string
	x.Class, names = d.expose(class)
	for _, name := range names {
		switch name {
		case fieldMessage:
			ok = d.value(messagePlan, unsafe.Pointer(&x.Message))
		case fieldCause:
			ok = d.value(causePlan, unsafe.Pointer(&x.Cause))
		case fieldTrace:
			ok = d.value(tracePlan, unsafe.Pointer(&x.StackTrace))
		case fieldSuppressed:
			ok = d.value(suppressedPlan, unsafe.Pointer(&x.Suppressed))
		default:
			v := d.any()
			ok = d.fault == nil
			x.Fields = append(x.Fields, Field{name, v})
		}
		if !ok {
			under(d.fault, name)
			return false
		}
	}
	if !x.endCauses() {
		return d.fail(fmt.Sprintf("an exception with more than %d causes behind each other", maxDepth))
	}
	d.end(number)
	return true
}

// endCauses takes the cause from x where it leads back to x: errors.Is and errors.As follow causes and would not come to an end. It is
// false where there are more causes than an honest peer has.
func (x *Exception) endCauses() bool {
	last := x
	for range maxDepth {
		if last.Cause == nil {
			return true
		}
		if last.Cause == x {
			x.Cause = nil
			return true
		}
		last = last.Cause
	}
	return false
}
