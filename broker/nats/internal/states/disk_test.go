package states_test

import (
	"net/url"
	"testing"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/storetest"
)

func TestAnEmbeddedStoreGoesOnWhenItsDiskHasSpaceAgain(t *testing.T) {
	brokers.Long(t)
	disk := brokers.SmallDisk(t, 24)
	storetest.Fault{Address: "nats://embedded:0?store=" + url.QueryEscape(disk.Dir), Want: store.ErrStoreFull, Says: disk.Dir,
		Cause: func(t *testing.T) { disk.Fill(t, 0) }, Undo: func(t *testing.T) { disk.Free(t) }}.Run(t)
}
