package micro

import "testing"

func TestActionsAndEndpointsHaveEachOthersNames(t *testing.T) {
	for _, c := range []struct{ service, short, endpoint string }{
		{"orders", "place", "Orders.Place"},
		{"orders", "getUser", "Orders.GetUser"},
		{"billing.invoices", "get", "Invoices.Get"},
		{"v2.orders", "place", "Orders.Place"},
		{"greeter", "say.hello", "Say.Hello"},
		{"user-store", "httpGet", "UserStore.HttpGet"},
		{"go.micro.srv.greeter", "say.hello", "Say.Hello"},
	} {
		if got := endpointOf(c.service, c.short); got != c.endpoint {
			t.Errorf("%s.%s is the endpoint %s, want %s", c.service, c.short, got, c.endpoint)
		}
		if got, ok := actionOf(c.service, c.endpoint); !ok || got != c.service+"."+c.short {
			t.Errorf("the endpoint %s of %s is the action %s, want %s.%s", c.endpoint, c.service, got, c.service, c.short)
		}
	}
	for _, endpoint := range []string{"", "Add", ".Add", "Lab.", "Lab.Add.More", "Lab.Ä", "Lab. "} {
		if name, ok := actionOf("lab", endpoint); ok {
			t.Errorf("the endpoint %q is the action %q", endpoint, name)
		}
	}
}
