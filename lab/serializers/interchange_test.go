package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/serializers/documents"
)

// avroHead is the length of the schema's fingerprint before the value, which Moleculer's Avro does not have.
const avroHead = 10

// Where both say that they speak a format, each must read what the other wrote.
func TestSabirAndMoleculerReadEachOthersPackets(t *testing.T) {
	brokers.Slow(t)
	brokers.Program(t, "npm", "npm")
	const size = "1 kB"
	dir := t.TempDir()
	text, err := documents.JSON(size)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, size+".json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	program := bench.Node("serializers", "child.js", "--expose-gc")
	if err := program.Prepare(t.Context(), t.Output()); err != nil {
		t.Fatal(err)
	}
	for theirs, ours := range map[string]string{"JSON": "json", "MsgPack": "msgpack", "Notepack": "msgpack", "CBOR": "cbor", "Avro": "avro, JSON inside",
		"ProtoBuf": "protobuf, JSON inside", "Thrift": "thrift, JSON inside"} {
		t.Run(theirs, func(t *testing.T) {
			peer, err := bench.StartChild(t.Context(), program, child.Order{Row: theirs, Address: dir}, bench.Unpinned)
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Stop()
			if _, err := peer.Ask(t.Context(), "use serialize "+size); err != nil {
				t.Fatal(err)
			}
			answer, err := peer.Ask(t.Context(), "packet")
			if err != nil {
				t.Fatal(err)
			}
			var packet []byte
			if err := json.Unmarshal(answer.Data, &packet); err != nil {
				t.Fatal(err)
			}
			c, err := contenderOf(ours, size)
			if err != nil {
				t.Fatal(err)
			}
			mine, err := c.encode(nil)
			if err != nil {
				t.Fatal(err)
			}
			if theirs == "Avro" {
				packet = append(mine[:avroHead:avroHead], packet...)
				mine = mine[avroHead:]
			}
			found, err := c.decode(packet)
			if err == nil {
				err = c.same(found)
			}
			if err != nil {
				t.Errorf("Sabir reads what Moleculer wrote: %v", err)
			}
			if _, err := peer.Ask(t.Context(), "read "+base64.StdEncoding.EncodeToString(mine)); err != nil {
				t.Errorf("Moleculer reads what Sabir wrote: %v", err)
			}
		})
	}
}
