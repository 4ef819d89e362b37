package actor

import (
	"context"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/compilertest"
)

func TestARefReachesItsProcessWhateverItWasMadeOf(t *testing.T) {
	s := quiet()
	defer s.Stop(context.Background())
	spawned, err := Spawn(s, counterB, 0, SpawnConfig{Name: "visits"})
	if err != nil {
		t.Fatal(err)
	}
	var alias Alias
	owner := spawn(t, s, hooks{})
	in(t, s, owner, func(p *Process) { alias, err = p.NewAlias() })
	if err != nil {
		t.Fatal(err)
	}
	for name, ref := range map[string]Ref[counter]{
		"by Spawn":            spawned,
		"of a PID":            RefTo[counter](spawned.PID()),
		"of another Ref":      RefTo[counter](spawned),
		"of a name":           RefTo[counter](Name{Name: "visits"}),
		"of a name of a node": RefTo[counter](Name{Name: "visits", Node: s.nodeName()}),
	} {
		t.Run(name, func(t *testing.T) {
			before, err := Ask(t.Context(), s, ref, (*counter).Total, total{})
			if err != nil {
				t.Fatal(err)
			}
			if err := Tell(s, ref, (*counter).Add, add{2}); err != nil {
				t.Fatal(err)
			}
			if after, err := Ask(t.Context(), s, ref, (*counter).Total, total{}); err != nil || after != before+2 {
				t.Errorf("%d and 2 is %d, %v", before, after, err)
			}
		})
	}
	if _, err := Ask(t.Context(), s, RefTo[puppet](alias), (*puppet).Ask, ask{func(*Process) (any, error) { return nil, nil }}); err != nil {
		t.Errorf("of an alias: %v", err)
	}
}

func TestARefOfNothingReachesNoProcess(t *testing.T) {
	s := quiet()
	defer s.Stop(context.Background())
	for name, ref := range map[string]Ref[counter]{
		"the zero Ref":   {},
		"a free name":    RefTo[counter](Name{Name: "nobody"}),
		"the zero Name":  RefTo[counter](Name{}),
		"the zero PID":   RefTo[counter](PID{}),
		"the zero Alias": RefTo[counter](Alias{}),
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, Tell(s, ref, (*counter).Add, add{2}), ErrNoProcess)
			_, err := Ask(t.Context(), s, ref, (*counter).Total, total{})
			wantError(t, err, ErrNoProcess)
		})
	}
}

func TestARefOfAnotherStateIsFoundOut(t *testing.T) {
	s := quiet()
	defer s.Stop(context.Background())
	pid, err := Spawn(s, pongerB, pongArgs{})
	if err != nil {
		t.Fatal(err)
	}
	ref := RefTo[counter](pid.PID())
	wantError(t, Tell(s, ref, (*counter).Add, add{2}), ErrNotHandled)
	_, err = Ask(t.Context(), s, ref, (*counter).Total, total{})
	wantError(t, err, ErrNotHandled)
}

func TestARefIsWrittenAsItsPID(t *testing.T) {
	s := quiet()
	defer s.Stop(context.Background())
	ref, err := Spawn(s, counterB, 0)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := ref.MarshalBinary()
	text, err2 := ref.MarshalText()
	if err != nil || err2 != nil || string(text) != ref.PID().String() {
		t.Fatalf("%q, %v, %v", text, err, err2)
	}
	var read, again Ref[counter]
	if err := read.UnmarshalBinary(binary); err != nil || read != ref {
		t.Errorf("read %s, %v", read, err)
	}
	if err := again.UnmarshalText(text); err != nil || again != ref {
		t.Errorf("read %s, %v", again, err)
	}
	named := RefTo[counter](Name{"visits", "b"})
	if named.String() != "visits@b" || !named.PID().Zero() {
		t.Errorf("%s, %s", named, named.PID())
	}
	if _, err := named.MarshalBinary(); err == nil {
		t.Error("a Ref of a name is written, as another process on another node")
	}
	if _, err := named.MarshalText(); err == nil {
		t.Error("a Ref of a name is written as text")
	}
}

// The compiler refuses each line of testdata/wrongtypes/wrong_types.go that ends in a comment, and no other.
func TestWrongTypesDoNotCompile(t *testing.T) {
	brokers.Long(t)
	compilertest.Refuses(t, "testdata/wrongtypes", 10)
}

// Typed and untyped sends and calls cost the same.
func BenchmarkRef(b *testing.B) {
	s := quiet()
	defer s.Stop(context.Background())
	ref, err := Spawn(s, counterB, 0, SpawnConfig{Mailbox: 64 << 10, Overflow: Wait})
	if err != nil {
		b.Fatal(err)
	}
	ctx, pid := context.Background(), ref.PID()
	loop := func(name string, do func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	loop("call", func() error { _, err := Call[int](ctx, s, pid, total{}); return err })
	loop("ask", func() error { _, err := Ask(ctx, s, ref, (*counter).Total, total{}); return err })
	loop("send", func() error { return Send(s, pid, add{1}) })
	loop("tell", func() error { return Tell(s, ref, (*counter).Add, add{1}) })
	sender, err := Spawn(s, puppets, hooks{})
	if err != nil {
		b.Fatal(err)
	}
	inside := func(name string, do func(p *Process) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			_, err := Ask(ctx, s, sender, (*puppet).Ask, ask{func(p *Process) (any, error) {
				for b.Loop() {
					if err := do(p); err != nil {
						return nil, err
					}
				}
				return nil, nil
			}})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
	inside("send of a process", func(p *Process) error { return Send(p, pid, add{1}) })
	inside("tell of a process", func(p *Process) error { return Tell(p, ref, (*counter).Add, add{1}) })
}
