package main

import (
	"go/scanner"
	"go/token"
	"html"
	"strings"
)

// colorGo marks comments, strings, numbers and keywords of Go code for the style sheet.
func colorGo(code string) string {
	var b strings.Builder
	var s scanner.Scanner
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(code))
	s.Init(file, []byte(code), func(token.Position, string) {}, scanner.ScanComments)
	done := 0
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		class := ""
		switch {
		case tok == token.COMMENT:
			class = "c"
		case tok == token.STRING || tok == token.CHAR:
			class = "s"
		case tok == token.INT || tok == token.FLOAT:
			class = "n"
		case tok.IsKeyword():
			class = "k"
		}
		if class == "" {
			continue
		}
		from := file.Offset(pos)
		b.WriteString(html.EscapeString(code[done:from]))
		done = min(from+len(literal), len(code))
		b.WriteString(`<i class="` + class + `">` + html.EscapeString(code[from:done]) + "</i>")
	}
	b.WriteString(html.EscapeString(code[done:]))
	return b.String()
}
