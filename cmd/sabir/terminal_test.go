package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestWhatIsNoTerminalGetsNoColourAndNoProgress(t *testing.T) {
	startDemo(t)
	for _, args := range [][]string{{"--help"}, {"actions"}, {"nodes"}, {"call", "no.such"}, {"demo", "--http", ":0", "--for", "10ms"},
		{"bench", "stock.list", "-d", "50ms", "--warmup", "0s"}} {
		if got := sabirRun(t, args...); strings.Contains(got.out+got.errOut, "\x1b") || strings.Contains(got.out+got.errOut, "\r") {
			t.Errorf("%v: %q", args, got.out+got.errOut)
		}
	}
}

func TestColourIsForTerminals(t *testing.T) {
	if got := (style{on: true}).red("x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("on: %q", got)
	}
	if got := (style{}).red("x"); got != "x" {
		t.Errorf("off: %q", got)
	}
}

func TestWhatANodeSaysCannotSteerTheTerminal(t *testing.T) {
	if got, want := printable("a\x1b[2Jb\u009bc\td\r\n"), `a\u001b[2Jb\u009bc`+"\td"+`\u000d`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestColumnsAreAsWideAsTheirWidestCell(t *testing.T) {
	var out bytes.Buffer
	writeRows(&out, [][]string{{"A", "B"}, {"größer", "x\ny"}, {"", "z"}})
	if want := "A       B\ngrößer  x y\n        z\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestNumbersForPeople(t *testing.T) {
	for got, want := range map[string]string{
		grouped(0):          "0",
		grouped(999):        "999",
		grouped(1234567):    "1 234 567",
		grouped(-1234):      "-1 234",
		grouped(-123):       "-123",
		micros(0.5):         "500 ns",
		micros(1):           "1.00 µs",
		micros(12.34):       "12.3 µs",
		micros(1234):        "1.23 ms",
		micros(2.5e6):       "2.50 s",
		byteSize(12):        "12 bytes",
		byteSize(3 << 20):   "3.00 MiB",
		ago(time.Now()):     "0s",
		ago(hoursAgo(1.51)): "1h30m",
		ago(hoursAgo(72.1)): "3d",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func hoursAgo(hours float64) time.Time {
	return time.Now().Add(-time.Duration(hours * float64(time.Hour)))
}

func TestTheLiveLineStaysBelowTheLog(t *testing.T) {
	var screen bytes.Buffer
	line := &liveLine{live: true, w: &screen}
	log := line.above(&screen)
	line.show("one")
	line.show("two")
	log.Write([]byte("log\n"))
	line.end()
	log.Write([]byte("after\n"))
	if want := eraseLine + "one" + eraseLine + "two" + eraseLine + "log\ntwo" + eraseLine + "after\n"; screen.String() != want {
		t.Errorf("%q, want %q", screen.String(), want)
	}
}

func TestThePlaceOfAPanicIsFoundInItsStack(t *testing.T) {
	stack := "goroutine 7 [running]:\nruntime/debug.Stack()\n\t/go/src/runtime/debug/stack.go:26 +0x5e\nsabir.run.func1()\n\t/x/action.go:170 +0x3b\n" +
		"panic({0x1?, 0x2?})\n\t/go/src/runtime/panic.go:783 +0x132\nruntime.mapassign_faststr(0x1)\n\t/go/src/runtime/map.go:99 +0x1\n" +
		"shop.(*orders).crash(0x1)\n\t/x/shop/orders.go:213 +0x27\nsabir.run()\n\t/x/action.go:180 +0x3b\n"
	if got := panicPlace(stack); got != "/x/shop/orders.go:213" {
		t.Error(got)
	}
	if got := panicPlace("nothing of the kind"); got != "?" {
		t.Error(got)
	}
}
