package names

import (
	"strings"
	"testing"
)

func TestNearestNames(t *testing.T) {
	known := []string{"greeter.hello", "orders.create", "orders.cancel", "users.get", "v2.users.get"}
	for name, want := range map[string]string{
		"greter.helo": "greeter.hello", "user.get": "users.get v2.users.get", "orders.crate": "orders.create", "customers.get": "users.get v2.users.get", "zzz.zzz": "",
	} {
		if got := strings.Join(Nearest(name, known), " "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("users.get", "users.gett")
	f.Add("\xff", "$")
	f.Fuzz(func(t *testing.T, name, other string) {
		if bad := Fault(name); bad == "" && strings.Trim(name, "$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "" {
			t.Fatalf("%q passed", name)
		}
		_ = Nearest(name, []string{other})
		if d := editDistance(name, other, 300); d != editDistance(other, name, 300) || (d == 0) != (name == other) && len(name) <= MaxLength && len(other) <= MaxLength {
			t.Fatalf("distance of %q and %q is %d", name, other, d)
		}
	})
}
