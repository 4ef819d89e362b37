package protobuf_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sabir-go/sabir/internal/protobuf"
)

type timed struct {
	Took time.Duration
	All  []time.Duration
	By   map[time.Duration]time.Duration
}

func TestADurationIsTheWellKnownType(t *testing.T) {
	for _, d := range []time.Duration{1, -1, time.Second, -90 * time.Minute, 1500 * time.Millisecond, -1500 * time.Millisecond, math.MaxInt64, math.MinInt64} {
		data := mustAppend(t, timed{Took: d})
		inner, err := proto.Marshal(durationpb.New(d))
		if err != nil {
			t.Fatal(err)
		}
		if want := append([]byte{1<<3 | 2, byte(len(inner))}, inner...); !bytes.Equal(data, want) {
			t.Errorf("%v: %x, want %x", d, data, want)
		}
		var back timed
		if err := protobuf.Codec.Decode(data, &back); err != nil || back.Took != d {
			t.Errorf("%v came back as %v, %v", d, back.Took, err)
		}
	}
	all := timed{All: []time.Duration{0, time.Hour}, By: map[time.Duration]time.Duration{time.Second: -time.Minute}}
	var back timed
	if err := protobuf.Codec.Decode(mustAppend(t, all), &back); err != nil || len(back.All) != 2 || back.All[1] != time.Hour || back.By[time.Second] != -time.Minute {
		t.Errorf("%v, %v", back, err)
	}
}

func TestDurationsThatGoDoesNotHoldAreRefused(t *testing.T) {
	for _, d := range []*durationpb.Duration{{Seconds: math.MaxInt64/1_000_000_000 + 1}, {Seconds: math.MinInt64}, {Seconds: 1, Nanos: -1}, {Seconds: -1, Nanos: 1}, {Nanos: 1e9}, {Seconds: math.MaxInt64 / 1_000_000_000, Nanos: 999_999_999}} {
		inner, err := proto.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var back timed
		if err := protobuf.Codec.Decode(append([]byte{1<<3 | 2, byte(len(inner))}, inner...), &back); err == nil {
			t.Errorf("%v was read as %v", d, back.Took)
		}
	}
}
