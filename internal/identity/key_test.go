package identity

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const testKey = "the private key of the nodes called orders-*"

func newKey(t *testing.T, text string) Key {
	t.Helper()
	key, err := NewKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeysDoNotShowInWhatIsPrinted(t *testing.T) {
	type inside struct {
		key  Key // whose methods fmt cannot call
		Also Key
	}
	value := inside{newKey(t, testKey), newKey(t, testKey)}
	private := value.key.reveal()
	var shown bytes.Buffer
	slog.New(slog.NewTextHandler(&shown, nil)).Info("x", "key", value.Also, "config", value)
	slog.New(slog.NewJSONHandler(&shown, nil)).Info("x", "key", value.Also, "config", value)
	text, _ := json.Marshal(value)
	fmt.Fprintf(&shown, "%s %v %+v %#v %v %+v %#v %s %x", text, value, value, value, value.Also, &value.Also, value.Also, value.Also, value.Also)
	for _, form := range []string{testKey, "orders-*", hex.EncodeToString(private[:8]), strings.Trim(fmt.Sprint(private[:4]), "[]")} {
		if strings.Contains(shown.String(), form) {
			t.Errorf("%q is in %s", form, &shown)
		}
	}
}

func TestAProofIsForOnePurposeOneIDAndOneValue(t *testing.T) {
	key := newKey(t, testKey)
	known, err := NewKnown(map[string]string{"orders-*": key.Public(), "a*": newKey(t, "another key, for the nodes called a*").Public()})
	if err != nil {
		t.Fatal(err)
	}
	proof := key.Prove("link 1", "orders-1", []byte("value"))
	if err := known.Check(proof, "link 1", "orders-1", []byte("value")); err != nil {
		t.Fatal(err)
	}
	for about, err := range map[string]error{
		"another purpose":           known.Check(proof, "message 1", "orders-1", []byte("value")),
		"another node of the group": known.Check(proof, "link 1", "orders-2", []byte("value")),
		"a node of another group":   known.Check(proof, "link 1", "a1", []byte("value")),
		"another value":             known.Check(proof, "link 1", "orders-1", []byte("valve")),
		"a border elsewhere":        known.Check(key.Prove("link 1", "orders-1", []byte("value")), "link 1", "orders-", []byte("1value")),
		"a proof that is cut short": known.Check(proof[:ProofSize-1], "link 1", "orders-1", []byte("value")),
		"no proof":                  known.Check(nil, "link 1", "orders-1", []byte("value")),
		"a key that is not known":   known.Check(newKey(t, "a key that nobody has named anywhere").Prove("link 1", "orders-1", []byte("value")), "link 1", "orders-1", []byte("value")),
	} {
		if err == nil {
			t.Errorf("%s: it is taken", about)
		}
	}
}

func TestAKeyThatIsTooShortIsAnError(t *testing.T) {
	if _, err := NewKey(testKey[:MinKey-1]); err == nil || !strings.Contains(err.Error(), "at least 32") || strings.Contains(err.Error(), "private") {
		t.Error(err)
	}
}
