package sabirtest

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/http/httpguts"
)

// exchange is one request of a file with the answer that it should get.
type exchange struct {
	title        string
	method, path string
	header       []field
	body         string
	want         answer
}

type field struct{ name, value string }

// answer is an answer in a file, or one that came. A status of 0 is one that the file does not have yet.
type answer struct {
	status int
	header []field
	body   string
}

// title begins the first line of each exchange.
const title = "###"

// readExchanges reads a file. See [GoldenHTTP].
func readExchanges(text string) (list []exchange, err error) {
	var part []string
	add := func() error {
		if len(part) == 0 {
			return nil
		}
		e, err := readExchange(part)
		list = append(list, e)
		return err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, title) {
			if err := add(); err != nil {
				return nil, err
			}
			part = nil
		} else if len(part) == 0 {
			if strings.TrimSpace(line) == "" {
				continue
			}
			return nil, fmt.Errorf(`a part begins with a line "### …", not with %q`, line)
		}
		part = append(part, line)
	}
	if err := add(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no request in it")
	}
	return list, nil
}

func readExchange(part []string) (e exchange, err error) {
	e.title = strings.TrimSpace(strings.TrimLeft(part[0], "#"))
	request, response := part[1:], []string(nil)
	if at := slices.IndexFunc(request, func(line string) bool { return strings.HasPrefix(line, "HTTP ") }); at >= 0 {
		request, response = request[:at], request[at:]
	}
	first, header, body, err := readMessage(request)
	if err != nil {
		return e, fmt.Errorf("%s: %w", e.title, err)
	}
	method, path, ok := strings.Cut(first, " ")
	if !ok || !strings.HasPrefix(path, "/") {
		return e, fmt.Errorf(`%s: want "POST /path", not %q`, e.title, first)
	}
	e.method, e.path, e.header, e.body = method, path, header, body
	if response == nil {
		return e, nil
	}
	first, e.want.header, e.want.body, err = readMessage(response)
	if err != nil {
		return e, fmt.Errorf("%s: %w", e.title, err)
	}
	if _, err := fmt.Sscanf(first, "HTTP %d", &e.want.status); err != nil {
		return e, fmt.Errorf(`%s: want "HTTP 200", not %q`, e.title, first)
	}
	return e, nil
}

// readMessage reads a first line, headers, and after an empty line a body.
func readMessage(lines []string) (first string, header []field, body string, err error) {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return "", nil, "", fmt.Errorf("there is no request after the title")
	}
	first, lines = strings.TrimRightFunc(lines[0], unicode.IsSpace), lines[1:]
	for len(lines) > 0 && strings.TrimSpace(lines[0]) != "" {
		name, value, ok := strings.Cut(lines[0], ":")
		if !ok {
			return "", nil, "", fmt.Errorf("the header %q has no colon", lines[0])
		}
		if !httpguts.ValidHeaderFieldName(name) {
			return "", nil, "", fmt.Errorf("%q is no name of a header", name)
		}
		header = append(header, field{name, strings.TrimSpace(value)})
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	// Space before a line stays: without it the line could be a title, or the first of an answer.
	return first, header, strings.TrimRightFunc(strings.Join(lines, "\n"), unicode.IsSpace), nil
}

func formatExchanges(list []exchange) string {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	for i, e := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s %s\n", title, e.title)
		writeMessage(w, e.method+" "+e.path, e.header, e.body)
		fmt.Fprintln(w)
		writeMessage(w, fmt.Sprintf("HTTP %d", e.want.status), e.want.header, e.want.body)
	}
	w.Flush()
	return b.String()
}

func writeMessage(w io.Writer, first string, header []field, body string) {
	fmt.Fprintln(w, first)
	for _, f := range header {
		fmt.Fprintf(w, "%s: %s\n", f.name, f.value)
	}
	if body != "" {
		fmt.Fprintf(w, "\n%s\n", body)
	}
}
