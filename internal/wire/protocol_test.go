package wire

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// TestHandshakeIsWhatItWas holds the bytes themselves where there is only one encoding. A hello is JSON, so a later
// version may write it otherwise: the frozen one must be understood, and be proven as it was.
func TestHandshakeIsWhatItWas(t *testing.T) {
	golden := goldenVectors(t)
	checkGolden(t, []vector{
		{"dialler-preamble", preamble{oldest: 2, newest: 2, flags: flagKeyed | flagDialled, nonce: testNonce(true)}.append(nil)},
		{"acceptor-preamble", preamble{oldest: 2, newest: 2, flags: flagKeyed, nonce: testNonce(false)}.append(nil)},
		{"dialler-proof", frozenProof(golden, diallerLabel, "dialler-preamble", "acceptor-preamble", "dialler-hello")},
		{"acceptor-proof", frozenProof(golden, acceptorLabel, "dialler-preamble", "acceptor-preamble", "dialler-hello", "dialler-proof", "acceptor-hello")},
		{"ok", appendMessage(nil, messageOK, nil)},
		{"refusal", appendRefusal(nil, &HandshakeError{Reason: ReasonKey, Detail: "why"})},
	})
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

// frozenProof is the proof of what was sent in the frozen vectors named.
func frozenProof(golden map[string][]byte, label string, said ...string) []byte {
	transcript := sha256.New()
	for _, name := range said {
		transcript.Write(golden[name])
	}
	return appendMessage(nil, messageProof, prove(testKey, label, [bindingSize]byte{}, transcript.Sum(nil)))
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
