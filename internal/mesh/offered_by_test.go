package mesh

import (
	"testing"

	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/membership"
)

func TestNoFormOfACatalogOffersWhatIsAnothers(t *testing.T) {
	m := &Mesh{config: Config{Config: joining.Config{OfferedBy: map[string][]string{"vault": {"vault"}, "mail-*": {"mail-1", "mail-2"}}}}}
	action := func(names ...string) (list []membership.Action) {
		for _, name := range names {
			list = append(list, membership.Action{Name: name})
		}
		return list
	}
	for about, test := range map[string]struct {
		service membership.Service
		by      string
		may     bool
	}{
		"its own":                        {membership.Service{Name: "vault", Version: 2, Group: "vault", Actions: action("v2.vault.open")}, "vault", true},
		"one without a rule":             {membership.Service{Name: "orders", Group: "orders", Actions: action("orders.get")}, "thief", true},
		"a name with the same beginning": {membership.Service{Name: "vaults", Actions: action("vaults.open")}, "thief", true},
		"another's":                      {membership.Service{Name: "vault", Actions: action("vault.open")}, "thief", false},
		"another version":                {membership.Service{Name: "vault", Version: 3, Actions: action("v3.vault.open")}, "thief", false},
		"a version in the name":          {membership.Service{Name: "v2.vault", Actions: action("v2.vault.open")}, "thief", false},
		"another's with more behind it":  {membership.Service{Name: "vault.door", Actions: action("vault.door.open")}, "thief", false},
		"actions of another's":           {membership.Service{Name: "thief", Actions: action("thief.it", "vault.open")}, "thief", false},
		"the group of another's":         {membership.Service{Name: "thief", Group: "vault"}, "thief", false},
		"events of another's group":      {membership.Service{Name: "thief", Events: []membership.Subscription{{Pattern: "**", Group: "vault"}}}, "thief", false},
		"a pattern":                      {membership.Service{Name: "mail-out", Actions: action("mail-out.send")}, "mail-2", true},
		"a pattern of others":            {membership.Service{Name: "mail-out", Actions: action("mail-out.send")}, "vault", false},
	} {
		if got := m.mayOffer([]string{test.by}, &test.service); got != test.may {
			t.Errorf("%s: %t", about, got)
		}
	}
}
