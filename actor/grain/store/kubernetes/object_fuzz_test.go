package kubernetes

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"

	"github.com/sabir-go/sabir/internal/grainstore"
)

func FuzzObjectsOfTheAPIServer(f *testing.F) {
	b := backend{prefix: "sabir", holder: "node"}
	for _, slot := range []grainstore.Slot{{State: []byte("text")}, {State: []byte{0xff}}, {Gone: true}} {
		o := b.object("kind", "key", slot)
		text, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(200, text)
	}
	f.Add(404, []byte(`{"kind":"Status","message":"none","details":{"kind":"leases"}}`))
	f.Fuzz(func(t *testing.T, code int, text []byte) {
		if err := refusal(code, text); err == nil {
			t.Errorf("%d %q is no error", code, text)
		}
		var o object
		if json.Unmarshal(text, &o) != nil {
			return
		}
		slot, err := o.slot()
		if err != nil {
			return
		}
		again := b.object("kind", "key", slot)
		again.Metadata.ResourceVersion = strconv.FormatUint(slot.Version, 10)
		read, err := again.slot()
		if slot.Gone {
			slot.State = nil
		}
		if err != nil || !reflect.DeepEqual(read, slot) && len(read.State)+len(slot.State) > 0 {
			t.Errorf("%+v became %+v, %v", slot, read, err)
		}
	})
}
