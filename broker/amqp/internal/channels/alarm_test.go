package channels_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/channeltest"
	"github.com/sabir-go/sabir/internal/engine"
)

// RabbitMQ stops reading what is published when it is short of disk or memory, and answers nothing.
func TestAnAlarmOfRabbitMQIsAnErrorAtOnce(t *testing.T) {
	brokers.Slow(t)
	t.Run("disk", func(t *testing.T) {
		disk := brokers.SmallDisk(t, 200)
		server := brokers.ForTest(t, brokers.RabbitMQ, brokers.Config{Dir: disk.Dir, Extra: "disk_free_limit.absolute = 50MB\n"})
		control(t, server, "eval", "rabbit_disk_monitor:set_max_check_interval(100).") // it looks every ten seconds by itself
		channeltest.Fault{Address: server.URL(), Want: engine.ErrFull, Says: "disk", Consumes: true,
			Cause: func(t *testing.T) { disk.Fill(t, 20) }, Undo: func(t *testing.T) { disk.Free(t) }}.Run(t)
	})
	t.Run("memory", func(t *testing.T) {
		server := brokers.ForTestShared(t, brokers.RabbitMQ)
		watermark := func(share string) func(t *testing.T) {
			return func(t *testing.T) { control(t, server, "set_vm_memory_high_watermark", share) }
		}
		channeltest.Fault{Address: server.URL(), Want: engine.ErrFull, Says: "memory", Consumes: true,
			Cause: watermark("0"), Undo: watermark("0.4")}.Run(t)
	})
}

func control(t *testing.T, server *brokers.Server, arguments ...string) {
	t.Helper()
	if err := server.RabbitMQControl(arguments...); err != nil {
		t.Fatal(err)
	}
}
