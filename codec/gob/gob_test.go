package gob_test

import (
	"bytes"
	stdgob "encoding/gob"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/gob"
)

type link struct {
	Next *link
}

// deepLinks is a gob of links in links, as a peer without a bound on depth would send it.
func deepLinks(t *testing.T, levels int) []byte {
	t.Helper()
	var first *link
	for range levels {
		first = &link{first}
	}
	var b bytes.Buffer
	if err := stdgob.NewEncoder(&b).Encode(first); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What the library does not bound, the length of the message does: 1 MiB cannot nest deep enough to end the process.
func TestTheDeepestMessageThatIsTakenIsRead(t *testing.T) {
	data := deepLinks(t, 500_000) // a level takes two bytes
	if len(data) > 1<<20 || len(data) < 1<<20*9/10 {
		t.Fatalf("%d bytes, want a little less than %d", len(data), 1<<20)
	}
	var got link
	if err := gob.Codec.Decode(data, &got); err != nil {
		t.Fatal(err)
	}
}

func TestALongMessageIntoARecursiveTypeIsRefused(t *testing.T) {
	err := gob.Codec.Decode(make([]byte, 1<<20+1), new(link))
	if err == nil || !strings.Contains(err.Error(), "at most 1048576 are taken") {
		t.Errorf("got %v", err)
	}
}

func TestAStreamWrittenByTheLibraryIsRead(t *testing.T) {
	var b bytes.Buffer
	want := map[string][]int{"a": {1, 2}}
	if err := stdgob.NewEncoder(&b).Encode(want); err != nil {
		t.Fatal(err)
	}
	var got map[string][]int
	if err := gob.Codec.Decode(b.Bytes(), &got); err != nil || len(got["a"]) != 2 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestMoreTypesThanAMessageMayDescribeAreRefused(t *testing.T) {
	data := bytes.Repeat([]byte{0x02, 0x01, 0x00}, 256+1) // a part of two bytes: type -1, then nothing of use
	err := gob.Codec.Decode(data, new(string))
	if err == nil || !strings.Contains(err.Error(), "more than 256 types") {
		t.Errorf("got %v", err)
	}
}

func TestAPointerToItselfIsRefused(t *testing.T) {
	type self *self
	var p self
	p = &p
	if _, err := gob.Codec.Append(nil, p); err == nil {
		t.Error("it was encoded")
	}
}

// The library itself panics here, in the time's MarshalBinary.
func TestANilTimeInAListIsAnError(t *testing.T) {
	for _, value := range []any{[]*time.Time{nil}, []*time.Time{{}, nil}, map[string]*time.Time{"a": nil}, [1]*time.Time{}} {
		out, err := gob.Codec.Append([]byte("kept"), value)
		if _, ok := errors.AsType[*codec.PanicError](err); !ok || string(out) != "kept" {
			t.Errorf("%T: got %q, %v", value, out, err)
		}
	}
}
