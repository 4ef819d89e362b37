package rpc

import (
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/protoname"
)

func TestNamesOfActionsInProtocolBuffers(t *testing.T) {
	for _, c := range []struct {
		service, action, pkg string
		version              int
		want                 string
	}{
		{"users", "get", "", 0, "/users.Users/Get"},
		{"v2.users", "get", "", 2, "/users.v2.Users/Get"},
		{"order-items", "getAll", "", 0, "/order_items.OrderItems/GetAll"},
		{"billing.invoices", "send-again", "", 0, "/billing.invoices.Invoices/SendAgain"},
		{"users", "get", "shop.v1", 0, "/shop.v1.Users/Get"},
		{"v2.users", "get", "shop.v1", 2, "/shop.v1.Users/Get"},
		{"billing.invoices", "get", "shop.v1", 0, "/shop.v1.BillingInvoices/Get"},
		{"HTTPServer", "ping", "", 0, "/http_server.HTTPServer/Ping"},
	} {
		a := &sabir.Action{Service: c.service, Short: c.action, Version: c.version}
		if c.pkg != "" {
			a.Annotate(protoname.PackageNote, c.pkg)
		}
		if got := methodOf(a).Path(); got != c.want {
			t.Errorf("%s.%s: got %s, want %s", c.service, c.action, got, c.want)
		}
	}
}
