package moleculer

import (
	"net"
	"testing"
)

func TestASearchOnThisMachineTakesNoAnnouncementsOfOthers(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	other := net.IPv4(198, 51, 100, 7) // of a network for documents
	for _, test := range []struct {
		onlyHere, want bool
		from           []net.IP
	}{
		{onlyHere: true, want: true, from: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(127, 0, 0, 2)}},
		{onlyHere: true, want: false, from: []net.IP{other}},
		{onlyHere: false, want: true, from: []net.IP{other, net.IPv4(127, 0, 0, 1)}},
	} {
		if test.want {
			for _, one := range own {
				test.from = append(test.from, one.(*net.IPNet).IP)
			}
		}
		a := &announcer{onlyHere: test.onlyHere}
		for _, from := range test.from {
			if got := a.takes(from); got != test.want {
				t.Errorf("on this machine only %v: an announcement from %v is taken %v", test.onlyHere, from, got)
			}
		}
	}
}
