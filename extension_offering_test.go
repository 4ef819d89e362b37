package sabir_test

import (
	"context"
	"testing"

	"github.com/sabir-go/sabir"
)

// offering is an extension with a service of its own.
type offering struct{ *recorder }

func (o offering) Services() []sabir.Servable {
	s := sabir.NewService("$recorder")
	sabir.Handle(s, "notes", func(context.Context, sabir.Empty) (int, error) { return len(o.heard), nil })
	return []sabir.Servable{s}
}

func TestTheServicesThatAnExtensionOffersRunWithItsNode(t *testing.T) {
	r := newRecorder()
	user := sabir.NewService("user", sabir.DependsOn("$recorder")) // so it starts after that
	n := sabir.NewNode(sabir.WithLinkExtension(topicOfTest, offering{r}), sabir.Serve(user))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if notes, err := sabir.Call[int](t.Context(), n, "$recorder.notes", sabir.Empty{}); err != nil || notes != 1 {
		t.Errorf("%d notes, %v: want that of the start", notes, err)
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
