package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// vector is some bytes of the protocol that must not change as long as the version does not. They are frozen in
// testdata/golden.txt and shown in docs/protocol.md; add new ones, never change one.
type vector struct {
	name string
	data []byte
}

// goldenVectors reads testdata/golden.txt.
func goldenVectors(t *testing.T) map[string][]byte {
	t.Helper()
	file, err := os.Open("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	golden := map[string][]byte{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, digits, ok := strings.Cut(lines.Text(), ": ")
		if !ok {
			continue
		}
		if golden[name], err = hex.DecodeString(digits); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return golden
}

// TestHandshakeIsWhatItWas holds the bytes of whole handshakes whose nonces and ephemeral keys are fixed, with one key and while keys change.
func TestHandshakeIsWhatItWas(t *testing.T) {
	plainDialler, plainAcceptor := record(t, nil)
	dialler, acceptor := record(t, testKey)
	both := turnsOf(t, plainDialler)
	answers := turnsOf(t, plainAcceptor)
	sealed, reply := turnsOf(t, dialler), turnsOf(t, acceptor)
	checkGolden(t, []vector{
		{"dialler-preamble", sealed[0]},
		{"acceptor-preamble", reply[0]},
		{"dialler-hello", both[1]},
		{"acceptor-hello", answers[1]},
		{"ok", both[2]},
		{"dialler-sealed", sealed[1]},
		{"acceptor-sealed", reply[1]},
		{"dialler-sealed-ok", sealed[2]},
		{"refusal", appendRefusal(nil, &HandshakeError{Reason: ReasonKey, Detail: "why"})},
	})
	checkGolden(t, recordVectors(t))
	golden := goldenVectors(t)
	hello, err := os.ReadFile("testdata/hello.json") // which docs/protocol.md shows
	if err != nil || string(golden["dialler-hello"][messageHeader:]) != strings.TrimSpace(string(hello)) {
		t.Errorf("the dialler's hello is %s, and testdata/hello.json has %s, error %v", golden["dialler-hello"][messageHeader:], hello, err)
	}
	for _, dialled := range []bool{true, false} {
		who, c := "acceptor-hello", recorded(nil, dialled).Config
		if dialled {
			who = "dialler-hello"
		}
		got, err := parseHello(golden[who][messageHeader:])
		if want := helloOf(c, ForLink); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is understood as %+v, error %v, want %+v", who, got, err, want)
		}
	}
}

// recordVectors returns the records that both sides of the frozen handshake send after it: the first record of each, and the one after the key of the
// direction was replaced.
func recordVectors(t *testing.T) []vector {
	t.Helper()
	golden := goldenVectors(t)
	one, two := pipe(t)
	atDialler, atAcceptor := &tap{Conn: one}, &tap{Conn: two}
	dialled, accepted := meet(t, atDialler, atAcceptor, recorded(testKey, true), recorded(testKey, false))
	if dialled.err != nil || accepted.err != nil {
		t.Fatal(dialled.err, accepted.err)
	}
	for _, end := range []net.Conn{one, two} {
		go io.Copy(io.Discard, end)
	}
	next := func(from outcome, sent *tap, text []byte) []byte {
		sent.written.Reset()
		if _, err := from.conn.Write(text); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(sent.written.Bytes())
	}
	request, reply := slices.Concat(golden["call-route"], golden["request"]), golden["reply"]
	vectors := []vector{
		{"dialler-record", next(dialled, atDialler, request)},
		{"acceptor-record", next(accepted, atAcceptor, reply)},
	}
	for range 1<<16 - 2 { // the dialler's ok had the number 0, so the next one has 65536
		next(dialled, atDialler, []byte{0})
	}
	return append(vectors, vector{"dialler-record-65536", next(dialled, atDialler, golden["cancel"])})
}

// turnsOf is the preamble and the messages of what one side sent.
func turnsOf(t *testing.T, sent []byte) [][]byte {
	t.Helper()
	turns := [][]byte{sent[:preambleSize]}
	for rest := sent[preambleSize:]; len(rest) > 0; {
		size := messageHeader + int(binary.LittleEndian.Uint32(rest[1:]))
		turns, rest = append(turns, rest[:size]), rest[size:]
	}
	return turns
}

func checkGolden(t *testing.T, vectors []vector) {
	t.Helper()
	golden := goldenVectors(t)
	for _, v := range vectors {
		if want, ok := golden[v.name]; !ok || !bytes.Equal(v.data, want) {
			t.Errorf("%s changed, or is new. It is now\n%s: %x", v.name, v.name, v.data)
		}
	}
}

// vectorsOnPage finds "name: hex" lines in the page, where the hex may have spaces and go on in lines that begin with two.
var vectorsOnPage = regexp.MustCompile(`(?m)^([a-z0-9-]+): ((?:[0-9a-f]{2,}(?: |\n  )?)+)$`)

func TestProtocolPageShowsTheFrozenVectors(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	golden := goldenVectors(t)
	shown := map[string]bool{}
	for _, found := range vectorsOnPage.FindAllStringSubmatch(string(page), -1) {
		data, err := hex.DecodeString(strings.Join(strings.Fields(found[2]), ""))
		if want, ok := golden[found[1]]; err != nil || !ok || !bytes.Equal(data, want) {
			t.Errorf("the page shows for %s what testdata/golden.txt does not have: %x", found[1], data)
		}
		shown[found[1]] = true
	}
	for name := range golden {
		if !shown[name] {
			t.Errorf("the page does not show %s", name)
		}
	}
}

// TestProtocolPageNamesEveryReason holds that the table of refusals is complete.
func TestProtocolPageNamesEveryReason(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| ([^|]+) \|`).FindAllStringSubmatch(string(page), -1)
	for number, reason := range reasonNumbers {
		found := func(row []string) bool { return row[1] == strconv.Itoa(number) && row[2] == string(reason) }
		if number > 0 && !slices.ContainsFunc(rows, found) {
			t.Errorf("the page has no row | %d | %s |", number, reason)
		}
	}
}
