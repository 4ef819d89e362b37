package membership

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestASpreadGivesEachPartItsPercentage(t *testing.T) {
	s := NewSpread(5, 20)
	for range 10 { // any thousand in a row
		var got [3]int
		for range 1000 {
			got[s.Pick("")]++
		}
		for i, want := range []int{50, 200, 750} {
			if math.Abs(float64(got[i]-want)) > 4 {
				t.Fatalf("part %d got %d of 1000, want about %d", i, got[i], want)
			}
		}
	}
	all := NewSpread(100)
	for range 1000 {
		if all.Pick("") != 0 {
			t.Fatal("something is left of 100 %")
		}
	}
}

func TestAKeyStaysInItsPartOfASpread(t *testing.T) {
	one, other := NewSpread(30), NewSpread(30)
	first := 0
	for i := range 10_000 {
		key := fmt.Sprint("customer ", i)
		part := one.Pick(key)
		if one.Pick(key) != part || other.Pick(key) != part {
			t.Fatalf("%s moves", key)
		}
		if part == 0 {
			first++
		}
	}
	if first < 2800 || first > 3200 {
		t.Errorf("%d of 10,000 keys are in the part of 30 %%", first)
	}
}

func TestSharesThatCannotBeAreRefused(t *testing.T) {
	many := make([]Share, MaxShares+1)
	for i := range many {
		many[i] = Share{fmt.Sprintf("v%d", i+1), 1}
	}
	for want, shares := range map[string][]Share{
		"":                               {{"v2", 5}},
		" ":                              {{"track=canary", 33.3}, {"zone=b", 33.3}, {"node=a", 33.4}},
		"17 shares":                      many,
		`"canary" is no target`:          {{"canary", 5}},
		`"v0" is no target`:              {{"v0", 5}},
		`"v02" is no target`:             {{"v02", 5}},
		`"=x" is no target`:              {{"=x", 5}},
		`"track=" is no target`:          {{"track=", 5}},
		"v2 gets 0 %":                    {{"v2", 0}},
		"v2 gets NaN %":                  {{"v2", math.NaN()}},
		"v2 gets 101 %":                  {{"v2", 101}},
		"v2 has two shares":              {{"v2", 5}, {"v2", 6}},
		"the shares are 120 % together":  {{"v2", 60}, {"v3", 60}},
		"of versions and of nodes":       {{"v2", 5}, {"track=canary", 5}},
		"has 259 bytes; 256 is the limi": {{"track=" + strings.Repeat("x", 253), 5}},
	} {
		err := CheckShares(shares)
		if strings.TrimSpace(want) == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", shares, err, want)
		}
	}
}
