package membership_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/membership"
)

// TestWhatANodeMayOfferTheOthersTake adds services until the next would be too much. The catalog of all that were taken is
// read by other nodes.
func TestWhatANodeMayOfferTheOthersTake(t *testing.T) {
	for name, test := range map[string]struct {
		service func(i int) membership.Service
		want    string
	}{
		"services": {func(i int) membership.Service { return membership.Service{Name: fmt.Sprint("s", i)} }, "4097 services; 4096 is the limit"},
		"actions": {func(i int) membership.Service {
			s := membership.Service{Name: fmt.Sprint("s", i)}
			for j := range 100 {
				s.Actions = append(s.Actions, membership.Action{Name: fmt.Sprintf("s%d.a%d", i, j)})
			}
			return s
		}, "16400 actions; 16384 is the limit"},
		"event subscriptions": {func(i int) membership.Service {
			s := membership.Service{Name: fmt.Sprint("s", i)}
			for j := range 100 {
				s.Events = append(s.Events, membership.Subscription{Pattern: fmt.Sprintf("a%d.*", j)})
			}
			return s
		}, "16400 event subscriptions; 16384 is the limit"},
		"bytes": {func(i int) membership.Service {
			return membership.Service{Name: fmt.Sprint("s", i), Description: strings.Repeat("long ", 800)}
		}, "bytes of names, types and descriptions; 4128768 is the limit"},
		"fields": {func(i int) membership.Service {
			return membership.Service{Name: fmt.Sprint("s", i), Description: strings.Repeat(",", 4000)}
		}, "fields of descriptions; 229376 is the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			var taken membership.Extent
			c := membership.Catalog{Node: "a"}
			for i := 0; ; i++ {
				s := test.service(i)
				own, err := s.Extent()
				if err != nil {
					t.Fatal(err)
				}
				if err := taken.Plus(own).Check(); err != nil {
					if !strings.Contains(err.Error(), test.want) {
						t.Errorf("service %d: %v, want %s", i, err, test.want)
					}
					break
				}
				taken = taken.Plus(own)
				c.Services = append(c.Services, s)
			}
			text, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := membership.ParseCatalog(text); err != nil {
				t.Errorf("what was taken is refused by others: %v", err)
			}
			last, _ := c.Services[0].Extent()
			if err := taken.Minus(last).Plus(last).Check(); err != nil {
				t.Errorf("a service that went cannot come again: %v", err)
			}
		})
	}
}
