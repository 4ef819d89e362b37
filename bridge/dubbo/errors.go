package dubbo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/hessian"
)

const (
	runtimeException    = "java.lang.RuntimeException"
	statusServerTimeout = statusTimeoutB
	statusServerError   = 80
	// genericClass is the class of exceptions for generic callers, which Dubbo 2.6 has too.
	genericClass = "com.alibaba.dubbo.rpc.service.GenericException"
	// rpcClass ends the names of Dubbo's own exception.
	rpcClass = ".rpc.RpcException"
)

// classes are the exceptions of Java that errors are, where no Throws says otherwise. Java's check of classes lets all of them pass.
var classes = map[sabir.Code]string{
	sabir.CodeInvalidArgument: "java.lang.IllegalArgumentException", sabir.CodeOutOfRange: "java.lang.IllegalArgumentException",
	sabir.CodeFailedPrecondition: "java.lang.IllegalStateException", sabir.CodeAlreadyExists: "java.lang.IllegalStateException", sabir.CodeAborted: "java.lang.IllegalStateException",
	sabir.CodePermissionDenied: "java.lang.SecurityException", sabir.CodeUnauthenticated: "java.lang.SecurityException",
}

// passing are other exceptions of Java's own that its check of classes lets pass: security/serialize.allowlist of Dubbo 3.3. An answer with a class
// that it refuses cannot be read at all.
var passing = []string{runtimeException, "java.lang.Exception", "java.lang.NullPointerException", "java.lang.IndexOutOfBoundsException", "java.lang.StringIndexOutOfBoundsException",
	"java.lang.NumberFormatException", "java.lang.InterruptedException", "java.lang.NegativeArraySizeException", "java.lang.IllegalArgumentException",
	"java.lang.IllegalStateException", "java.lang.SecurityException"}

// statusOf is the status of the answer for an error by which the call was not made, and which a consumer may try at another provider; 0 for
// other errors, which are exceptions.
func statusOf(err error) (status byte, text string) {
	if err == nil {
		return 0, ""
	}
	if _, own := errors.AsType[*hessian.Exception](err); own {
		return 0, ""
	}
	e := sabir.AsError(err)
	switch {
	case e.Name == sabir.ErrActionNotFound.Name && e.Code == sabir.ErrActionNotFound.Code:
		status = statusNoService
	case e.Name == sabir.ErrDeadlineExceeded.Name && e.Code == sabir.ErrDeadlineExceeded.Code:
		status = statusServerTimeout
	case !e.Retryable:
		return 0, ""
	case e.Code == sabir.CodeResourceExhausted:
		status = statusExhausted
	default:
		status = statusServerError
	}
	return status, e.Message
}

// exceptionOf is the exception that an error is for Java. Stacks stay on their node.
func exceptionOf(m *mapping, err error) *hessian.Exception {
	if x, ok := errors.AsType[*hessian.Exception](err); ok {
		return m.passed(x, maxCauses)
	}
	e := sabir.AsError(err)
	class := m.exceptions[e.Name]
	if class == "" {
		class = classes[e.Code]
	}
	if class == "" {
		class = runtimeException
	}
	return &hessian.Exception{Class: class, Message: e.Message}
}

// maxCauses is how many causes behind each other Java gets of an exception. Those that a handler made may have no end.
const maxCauses = 16

// passed is an exception with its causes, of classes that Java lets in: others are as its own providers have them.
func (m *mapping) passed(x *hessian.Exception, causes int) *hessian.Exception {
	own := &hessian.Exception{Class: x.Class, Message: x.Message, Fields: x.Fields}
	if m.errors[x.Class] == "" && !slices.Contains(passing, x.Class) {
		own = &hessian.Exception{Class: runtimeException, Message: x.Error()}
	}
	if x.Cause != nil && x.Cause != x && causes > 0 {
		own.Cause = m.passed(x.Cause, causes-1)
	}
	return own
}

// genericException is an exception for a caller that does not have its class.
func genericException(x *hessian.Exception) *hessian.Exception {
	return &hessian.Exception{Class: genericClass, Message: x.Error(), Fields: []hessian.Field{{Name: "exceptionClass", Value: x.Class}, {Name: "exceptionMessage", Value: x.Message}}}
}

// errorOf is an exception as callers here have it. errors.As finds the *hessian.Exception in it.
func errorOf(m *mapping, x *hessian.Exception, provider string) *sabir.Error {
	class, message := x.Class, x.Message
	if strings.HasSuffix(class, ".GenericException") {
		for _, f := range x.Fields {
			text, _ := f.Value.(string)
			switch f.Name {
			case "exceptionClass":
				class = text
			case "exceptionMessage":
				message = text
			}
		}
		x = &hessian.Exception{Class: class, Message: message}
	}
	code, name := codeOf(x), m.errors[class]
	if name == "" {
		name = class[strings.LastIndexAny(class, ".$")+1:]
	}
	if name == "" {
		name = sabir.ErrHandlerFailed.Name
	}
	e := sabir.Errorf(code, name, "%w", x)
	if e.Node = provider; message != "" {
		e.Message = message
	}
	return e
}

// codeOf is the code of an error that is an exception.
func codeOf(x *hessian.Exception) sabir.Code {
	switch {
	case x.Class == "java.lang.IllegalArgumentException", x.Class == "java.lang.NumberFormatException", strings.HasSuffix(x.Class, ".ConstraintViolationException"):
		return sabir.CodeInvalidArgument
	case x.Class == "java.lang.IllegalStateException":
		return sabir.CodeFailedPrecondition
	case x.Class == "java.lang.SecurityException":
		return sabir.CodePermissionDenied
	case x.Class == "java.lang.UnsupportedOperationException":
		return sabir.CodeUnimplemented
	case x.Class == "java.util.concurrent.TimeoutException":
		return sabir.CodeDeadlineExceeded
	case strings.HasSuffix(x.Class, rpcClass):
		return rpcCode(x)
	}
	return sabir.CodeUnknown
}

// rpcCode is the code of Dubbo's own exception, which has one: 1 network, 2 timeout, 4 forbidden, 7 limit exceeded.
func rpcCode(x *hessian.Exception) sabir.Code {
	for _, f := range x.Fields {
		if code, ok := f.Value.(int32); ok && f.Name == "code" {
			switch code {
			case 1, 6:
				return sabir.CodeUnavailable
			case 2, 8:
				return sabir.CodeDeadlineExceeded
			case 4, 10:
				return sabir.CodePermissionDenied
			case 7:
				return sabir.CodeResourceExhausted
			}
		}
	}
	return sabir.CodeInternal
}

// errorOfStatus is an answer that is not OK, as callers here have it.
func errorOfStatus(status byte, text, provider, action string) *sabir.Error {
	same, retryable := sabir.ErrHandlerFailed, false
	switch status {
	case statusTimeoutA, statusTimeoutB:
		same = sabir.ErrDeadlineExceeded
	case statusInactive, statusExhausted:
		same, retryable = sabir.ErrServiceUnavailable, true // it was not begun
	case statusNoService:
		same, retryable = sabir.ErrActionNotFound, true
	case statusFormat, statusBadRequest:
		same = sabir.ErrBadInput
	}
	if strings.Contains(text, "Not found exported service") {
		same, retryable = sabir.ErrActionNotFound, true
	}
	e := sabir.NewError(same.Code, same.Name, fmt.Sprintf("%s at the Dubbo provider %s: %s (status %d)", action, provider, firstLine(text), status))
	e.Retryable, e.Node = retryable, provider
	return e
}

// firstLine cuts the stack that Java sends with an error.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return strings.ToValidUTF8(text[:min(len(text), 500)], "")
}
