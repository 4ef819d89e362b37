package rpc

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/protoname"
	"google.golang.org/protobuf/reflect/protoreflect"
)

type packageNote struct{}

// Package gives a service a package of Protocol Buffers, such as "shop.v1": the action "users.get" is then shop.v1.Users/Get, and
// "billing.invoices.get" is shop.v1.BillingInvoices/Get. It is for NewService:
//
//	users := sabir.NewService("users", sabir.Use(rpc.Package("shop.v1")))
func Package(name string) sabir.Middleware {
	note := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		if !protoreflect.FullName(name).IsValid() {
			a.Reject("rpc.Package(%q): want identifiers with dots between them, such as \"shop.v1\"", name)
		}
		a.Annotate(packageNote{}, name)
		return next
	}
	return sabir.Middleware{Name: "rpc.Package", Local: note, Stream: note}
}

// method is an action's name in Protocol Buffers.
type method struct{ pkg, service, name string }

func (m method) serviceName() string { return m.pkg + "." + m.service }

func (m method) path() string { return "/" + m.serviceName() + "/" + m.name }

// methodOf returns the name of an action.
func methodOf(a *sabir.Action) method {
	service := a.Service
	if a.Version > 0 {
		_, service, _ = strings.Cut(service, ".")
	}
	m := method{name: protoname.Message(a.Short)}
	if m.pkg, _ = a.Annotation(packageNote{}).(string); m.pkg != "" {
		m.service = protoname.Message(service)
		return m
	}
	parts := strings.Split(service, ".")
	m.service = protoname.Message(parts[len(parts)-1])
	for i := range parts {
		parts[i] = protoname.Field(parts[i])
	}
	if a.Version > 0 {
		parts = append(parts, fmt.Sprintf("v%d", a.Version))
	}
	m.pkg = strings.Join(parts, ".")
	return m
}

// readsOnly reports whether the action has no side effects, as its author says by a REST form with GET or by keeping answers. Connect's
// clients may call it with GET.
func readsOnly(a *sabir.Action) bool {
	for i := range a.Routes {
		if m := a.Routes[i].Method; m == http.MethodGet || m == http.MethodHead {
			return true
		}
	}
	return a.Annotation(gateway.CacheNote) != nil
}
