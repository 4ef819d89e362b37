package rpc

import (
	"net/http"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/protoname"
)

// Package gives a service a package of Protocol Buffers, such as "shop.v1": the action "users.get" is then shop.v1.Users/Get, and
// "billing.invoices.get" is shop.v1.BillingInvoices/Get. It is for NewService:
//
//	users := sabir.NewService("users", sabir.Use(rpc.Package("shop.v1")))
func Package(name string) sabir.Middleware {
	note := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		if !protoreflect.FullName(name).IsValid() {
			a.Reject("rpc.Package(%q): want identifiers with dots between them, such as \"shop.v1\"", name)
		}
		a.Annotate(protoname.PackageNote, name)
		return next
	}
	return sabir.Middleware{Name: "rpc.Package", Local: note, Stream: note}
}

// NoSideEffects declares that an action only reads, so that Connect's clients may call it with GET, which browsers and proxies cache. An
// action with a REST form for GET, or whose answers are cached, needs no such declaration. It is for Handle:
//
//	sabir.Handle(users, "find", find, sabir.Use(rpc.NoSideEffects()))
func NoSideEffects() sabir.Middleware {
	return sabir.Middleware{Name: "rpc.NoSideEffects", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		a.Annotate(protoname.ReadsNote, true)
		return next
	}}
}

// methodOf returns the name of an action.
func methodOf(a *sabir.Action) protoname.Method {
	pkg, _ := a.Annotation(protoname.PackageNote).(string)
	return protoname.MethodOf(a.Service, a.Short, a.Version, pkg)
}

// readsOnly reports whether the action has no side effects, as its author says by [NoSideEffects], a REST form with GET or by keeping
// answers. Connect's clients may call it with GET.
func readsOnly(a *sabir.Action) bool {
	for i := range a.Routes {
		if m := a.Routes[i].Method; m == http.MethodGet || m == http.MethodHead {
			return true
		}
	}
	return a.Annotation(gateway.CacheNote) != nil || a.Annotation(protoname.ReadsNote) != nil
}
