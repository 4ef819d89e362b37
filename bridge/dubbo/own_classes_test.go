package dubbo_test

import (
	"reflect"
	"testing"

	"github.com/sabir-go/sabir/codec/hessian"
)

// Types as sabir import dubbo writes them for interfaces with classes of Dubbo's own metadata, which the bridge sends and reads too.
type (
	ownMetadata struct {
		App      string                 `hessian:"app"`
		Revision string                 `hessian:"revision"`
		Services map[string]*ownService `hessian:"services"`
	}
	ownService struct {
		Name string `hessian:"name"`
	}
)

// All tests here run with them, also those in which nodes and Java ask each other for metadata.
func init() {
	hessian.Register[ownMetadata]("org.apache.dubbo.metadata.MetadataInfo")
	hessian.Register[ownService]("org.apache.dubbo.metadata.MetadataInfo$ServiceInfo")
}

func TestAProgramMayHaveTypesForDubbosClassesOfMetadata(t *testing.T) {
	want := &ownMetadata{App: "shop", Revision: "1", Services: map[string]*ownService{"a": {Name: "a"}}}
	data, err := hessian.Codec.Append(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := hessian.Codec.Decode(data, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
}
