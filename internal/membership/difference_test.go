package membership_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/membership"
)

// read is the catalog as another node has it.
func read(t testing.TB, c membership.Catalog) membership.Catalog {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := membership.ParseCatalog(text)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func offering(version uint64, services ...membership.Service) membership.Catalog {
	return membership.Catalog{Node: "a", Instance: 3, Version: version, Services: services}
}

func service(name string, actions int) membership.Service {
	s := membership.Service{Name: name}
	for i := range actions {
		s.Actions = append(s.Actions, membership.Action{Name: fmt.Sprintf("%s.a%d", name, i)})
	}
	return s
}

func TestADifferenceHasWhatCameChangedAndWentAndNoMore(t *testing.T) {
	old := offering(1, service("same", 10_000), service("changed", 2), service("gone", 3))
	now := offering(2, service("same", 10_000), service("changed", 3), service("new", 1))
	now.Waiting = []membership.Waiting{{Name: "later", Needs: []string{"other"}}}
	difference, changed := now.Since(&old)
	if !changed {
		t.Fatal("nothing has changed")
	}
	if text, _ := json.Marshal(difference); len(text) > 400 {
		t.Errorf("the difference has %d bytes: %s", len(text), text)
	}
	known, difference := read(t, old), read(t, difference)
	got, err := known.With(&difference)
	if err != nil {
		t.Fatal(err)
	}
	byName := func(a, b membership.Service) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(got.Services, byName)
	slices.SortFunc(now.Services, byName)
	if got.Version != 2 || got.Base != 0 || got.Gone != nil || !reflect.DeepEqual(got.Services, now.Services) || !reflect.DeepEqual(got.Waiting, now.Waiting) {
		t.Errorf("the difference made %d services of version %d", len(got.Services), got.Version)
	}
}

func TestWhereNothingChangedThereIsNoDifference(t *testing.T) {
	old, now := offering(1, service("same", 3)), offering(2, service("same", 3))
	if difference, changed := now.Since(&old); changed {
		t.Errorf("got %+v", difference)
	}
}

func TestADifferenceToAnotherCatalogIsRefused(t *testing.T) {
	one, two, three := offering(1), offering(2, service("x", 1)), offering(3, service("x", 1), service("y", 1))
	difference, _ := three.Since(&two)
	otherRun := two
	otherRun.Instance++
	for name, known := range map[string]*membership.Catalog{"none": nil, "older": &one, "another run": &otherRun} {
		if _, err := known.With(&difference); !errors.Is(err, membership.ErrWrongBase) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A peer that sends difference after difference makes this node hold no more than a catalog may have.
func TestDifferencesTogetherAreBounded(t *testing.T) {
	known := read(t, offering(1))
	for version := uint64(2); ; version++ {
		next := offering(version, membership.Service{Name: fmt.Sprint("s", version), Description: strings.Repeat("x", 4000)})
		next.Base = version - 1
		next = read(t, next)
		var err error
		if known, err = known.With(&next); err != nil {
			if !errors.Is(err, membership.ErrWrongBase) {
				t.Error(err)
			}
			return
		}
		if version > membership.MaxCatalog/4000+2 {
			t.Fatalf("%d services of 4,000 bytes are held", len(known.Services))
		}
	}
}

func TestServicesThatStayKeepTheirOffers(t *testing.T) {
	r := membership.NewRegistry()
	known := read(t, offering(1, service("same", 2), service("gone", 1)))
	r.Set(known)
	before := r.View().Action("same.a1")[0]
	difference := read(t, membership.Catalog{Node: "a", Instance: 3, Version: 2, Base: 1, Services: []membership.Service{service("new", 1)}, Gone: []membership.ServiceKey{{Name: "gone"}}})
	next, err := known.With(&difference)
	if err != nil {
		t.Fatal(err)
	}
	r.Set(next)
	if got := r.View().Actions(); !slices.Equal(got, []string{"new.a0", "same.a0", "same.a1"}) {
		t.Errorf("offered are %v", got)
	}
	if r.View().Action("same.a1")[0] != before {
		t.Error("what stays was made anew")
	}
}

func FuzzADifferenceMakesTheNewCatalog(f *testing.F) {
	f.Add([]byte(`{"node":"a","version":1,"services":[{"name":"s"},{"name":"t","version":2}]}`), []byte(`{"node":"a","version":2,"services":[{"name":"t","version":2,"actions":[{"name":"t.x"}]}],"waiting":[{"name":"s","needs":["q"]}]}`))
	f.Add([]byte(`{"node":"a"}`), []byte(`{"node":"a","base":7,"version":9,"gone":[{"name":"x"}]}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		old, err := membership.ParseCatalog(first)
		if err != nil {
			return
		}
		now, err := membership.ParseCatalog(second)
		if err != nil {
			return
		}
		if made, err := old.With(&now); err == nil && made.Check() != nil {
			t.Fatal("a bad catalog was made")
		}
		old.Base, old.Gone, now.Base, now.Gone, now.Instance = 0, nil, 0, nil, old.Instance
		difference, changed := now.Since(&old)
		made, err := old.With(&difference)
		if err != nil {
			if errors.Is(err, membership.ErrWrongBase) {
				return // too large together
			}
			t.Fatal(err)
		}
		if back, more := made.Since(&now); more {
			t.Fatalf("left is %+v", back)
		}
		if !changed && len(made.Services) != len(old.Services) {
			t.Fatal("something changed")
		}
	})
}

// TestTheCatalogsOfTheDocsAreRead holds the examples of docs/protocol.md, by which other implementations are made.
func TestTheCatalogsOfTheDocsAreRead(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ = bytes.Cut(page, []byte("**Catalog**, posts on topic 1"))
	var read [2]membership.Catalog
	for i := range read {
		_, block, _ := bytes.Cut(page, []byte("```json internal/membership/testdata/"))
		_, rest, _ := bytes.Cut(block, []byte("\n")) // behind the file's name
		text, after, _ := bytes.Cut(rest, []byte("```"))
		if read[i], err = membership.ParseCatalog(text); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		page = after
	}
	whole, err := read[0].With(&read[1])
	if err != nil {
		t.Fatal(err)
	}
	if whole.Version != 4 || len(whole.Services) != 1 || whole.Services[0].Name != "orders" {
		t.Errorf("the difference makes %+v", whole)
	}
}
