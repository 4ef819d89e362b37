package seal

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

const testKey = "0123456789abcdef0123456789abcdef"

// meet is both sides of a handshake.
func meet(t testing.TB, suites []Suite) (dialled, accepted *Channel) {
	t.Helper()
	keys := NewKeys(testKey)
	message, offer, err := keys.Offer(rand.Reader, suites, []byte("prologue"), func([]byte) []byte { return []byte("hello") })
	if err != nil {
		t.Fatal(err)
	}
	answer, payload, err := keys.Answer(rand.Reader, Own(), []byte("prologue"), message)
	if err != nil || string(payload) != "hello" {
		t.Fatal(string(payload), err)
	}
	reply, accepted, err := answer.Reply([]byte("welcome"))
	if err != nil {
		t.Fatal(err)
	}
	payload, dialled, err = offer.Finish(reply)
	if err != nil || string(payload) != "welcome" {
		t.Fatal(string(payload), err)
	}
	return dialled, accepted
}

func TestBothWaysAreSealedWithEachSuite(t *testing.T) {
	for _, suite := range []Suite{ChaChaPoly, AESGCM} {
		dialled, accepted := meet(t, []Suite{suite})
		for _, way := range [][2]*Channel{{dialled, accepted}, {accepted, dialled}} {
			for i := range 3 {
				text := fmt.Sprint("text ", i)
				got, err := way[1].In.Open(nil, way[0].Out.Seal(nil, []byte(text), []byte("ad")), []byte("ad"))
				if err != nil || string(got) != text {
					t.Errorf("suite %d: %q, %v", suite, got, err)
				}
			}
		}
	}
}

func TestATextIsOpenedOnceAndInItsPlaceOnly(t *testing.T) {
	dialled, accepted := meet(t, Own())
	texts := [][]byte{dialled.Out.Seal(nil, []byte("0"), nil), dialled.Out.Seal(nil, []byte("1"), nil), dialled.Out.Seal(nil, []byte("2"), nil)}
	if _, err := accepted.In.Open(nil, texts[1], nil); !errors.Is(err, ErrUnauthentic) {
		t.Errorf("the second text as the first: %v", err)
	}
	if _, err := accepted.In.OpenAt(1, nil, texts[1], nil); err != nil {
		t.Errorf("the second text after one was lost: %v", err)
	}
	for number := range texts {
		if _, err := accepted.In.OpenAt(uint64(number), nil, texts[number], nil); (err == nil) != (number == 2) {
			t.Errorf("text %d after the second: %v", number, err)
		}
	}
	if _, err := dialled.In.Open(nil, texts[0], nil); !errors.Is(err, ErrUnauthentic) {
		t.Errorf("a side's own text: %v", err)
	}
}

func TestKeysAreReplacedOnBothSidesAlsoWhereTextsAreLost(t *testing.T) {
	dialled, accepted := meet(t, Own())
	first := dialled.Out.epoch.key
	sealed := make([]byte, 0, 64)
	for i := range 3*epochSize + 1 {
		number := dialled.Out.Next()
		sealed = dialled.Out.Seal(sealed[:0], []byte("x"), nil)
		if i < 10 || i > epochSize-3 && i < epochSize+3 || i == 3*epochSize {
			if _, err := accepted.In.OpenAt(number, nil, sealed, nil); err != nil {
				t.Fatalf("text %d: %v", i, err)
			}
		}
	}
	if dialled.Out.epoch.key == first || dialled.Out.epoch.key != accepted.In.epoch.key || dialled.Out.epoch.number != 3 {
		t.Errorf("after %d texts the key was replaced %d times", dialled.Out.Next(), dialled.Out.epoch.number)
	}
}

func TestAForgedNumberChangesNothing(t *testing.T) {
	dialled, accepted := meet(t, Own())
	forged := make([]byte, 40)
	for _, number := range []uint64{0, 1, epochSize, maxSkip, maxSkip + 1, 1 << 40, 1<<64 - 1} {
		if _, err := accepted.In.OpenAt(number, nil, forged, nil); !errors.Is(err, ErrUnauthentic) {
			t.Errorf("number %d: %v", number, err)
		}
	}
	if _, err := accepted.In.Open(nil, dialled.Out.Seal(nil, []byte("true"), nil), nil); err != nil {
		t.Errorf("after the forgeries: %v", err)
	}
}

func TestSealingAndOpeningAllocateNothing(t *testing.T) {
	dialled, accepted := meet(t, Own())
	text, sealed, opened := make([]byte, 1000), make([]byte, 0, 1100), make([]byte, 0, 1100)
	if n := testing.AllocsPerRun(1000, func() {
		sealed = dialled.Out.Seal(sealed[:0], text, nil)
		if _, err := accepted.In.Open(opened[:0], sealed, nil); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTheOffererOfASuiteThatTheOtherSideIsSlowAtIsAnsweredWithAnother(t *testing.T) {
	keys := NewKeys(testKey)
	message, _, err := keys.Offer(rand.Reader, []Suite{AESGCM, ChaChaPoly}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, _, err := keys.Answer(rand.Reader, []Suite{ChaChaPoly}, nil, message)
	if err != nil || answer.suite != ChaChaPoly {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestAForgedReplyLeavesNoTrace(t *testing.T) {
	keys := NewKeys(testKey)
	message, offer, err := keys.Offer(rand.Reader, Own(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, _, err := keys.Answer(rand.Reader, Own(), nil, message)
	if err != nil {
		t.Fatal(err)
	}
	reply, _, err := answer.Reply(nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(reply)
	changed[len(changed)-1] ^= 1
	for _, forged := range [][]byte{nil, {0}, {9}, make([]byte, 49), changed, message} { // 49 zeros hold a key without a common secret
		if _, _, err := offer.Finish(forged); !errors.Is(err, ErrKey) {
			t.Errorf("%x: %v", forged, err)
		}
	}
	if _, _, err := offer.Finish(reply); err != nil {
		t.Errorf("the true reply: %v", err)
	}
}

func TestKeysDoNotShowInWhatIsPrinted(t *testing.T) {
	type inside struct {
		keys Keys // whose methods fmt cannot call
		Also Keys
	}
	var log bytes.Buffer
	value := inside{NewKeys(testKey, "another key, of long ago"), NewKeys(testKey)}
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "keys", value.Also, "config", value)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "keys", value.Also, "config", value)
	text, err := json.Marshal(value)
	if err != nil {
		t.Logf("json refuses it: %v", err)
	}
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v", value, value, value), fmt.Sprintf("%v %+v %#v %s", value.Also, &value.Also, value.Also, value.Also), log.String(), string(text)} {
		if strings.Contains(shown, "0123") || strings.Contains(shown, "48 49 50") || strings.Contains(shown, "303132") || strings.Contains(shown, "long ago") {
			t.Error(shown)
		}
	}
}

// FuzzAnswer holds that no message of somebody without the key is answered.
func FuzzAnswer(f *testing.F) {
	message, _, _ := NewKeys(testKey).Offer(rand.Reader, []Suite{AESGCM, ChaChaPoly}, nil, func([]byte) []byte { return []byte("hello") })
	f.Add(message)
	f.Add([]byte{255, 1, 0, 0, 2, 255, 255})
	keys := NewKeys("nobody who fuzzes has this key..", "nor this one, which is the other")
	f.Fuzz(func(t *testing.T, message []byte) {
		if _, _, err := keys.Answer(rand.Reader, []Suite{AESGCM, ChaChaPoly}, nil, message); err == nil {
			t.Error("it is answered")
		}
	})
}

// FuzzFinish holds that no reply of somebody without the key is taken.
func FuzzFinish(f *testing.F) {
	f.Add(make([]byte, 49))
	f.Add([]byte{0})
	_, offer, err := NewKeys("nobody who fuzzes has this key..").Offer(rand.Reader, []Suite{AESGCM, ChaChaPoly}, nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		if _, _, err := offer.Finish(message); err == nil {
			t.Error("it is taken")
		}
	})
}
