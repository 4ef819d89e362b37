package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// openTerminal makes a terminal whose lines have that many characters. What is written to it is read from screen.
func openTerminal(t *testing.T, width int) (terminal, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return terminal, screen
}

func TestBarsAndProgressOfABenchFitIntoANarrowTerminal(t *testing.T) {
	startDemo(t)
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	const width = 50
	terminal, screen := openTerminal(t, width)
	var shown bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&shown, screen) // a terminal that was closed is an error here
	}()
	code := execute(t.Context(), []string{"bench", "users.get", "id=u-1", "-d", "300ms", "--warmup", "300ms", "-c", "2"}, strings.NewReader(""), terminal, terminal)
	terminal.Close()
	<-read
	lines := strings.FieldsFunc(strings.ReplaceAll(shown.String(), eraseLine, "\n"), func(r rune) bool { return r == '\r' || r == '\n' })
	if code != exitOK || !strings.Contains(shown.String(), "measuring users.get") || !strings.Contains(shown.String(), "█") {
		t.Errorf("exit code %d: %q", code, shown.String())
	}
	for _, line := range lines {
		if bar := strings.Contains(line, "█") || strings.Contains(line, "measuring"); bar && utf8.RuneCountInString(line) > width {
			t.Errorf("%d characters in a line of %d: %q", utf8.RuneCountInString(line), width, line)
		}
	}
}
