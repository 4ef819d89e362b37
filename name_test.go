package sabir

import (
	"testing"
)

func TestNamesOfServices(t *testing.T) {
	for name, good := range map[string]bool{"users": true, "v.users": true, "v2x.users": true, "v2": false, "v2.users": false, "v": true} {
		if bad := badServiceName(name); (bad == "") != good {
			t.Errorf("service %q: %s", name, bad)
		}
	}
}
