package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// prompt is a file of Prompts.
type prompt struct {
	described *sdk.Prompt
	text      *template.Template
}

// maxPrompt bounds a file, and what its template writes, in bytes.
const maxPrompt = 256 << 10

// readPrompts reads the files *.md at the top of a file system, in the order of their names.
func readPrompts(files fs.FS) ([]*prompt, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no file *.md")
	}
	var prompts []*prompt
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		p, err := newPrompt(strings.TrimSuffix(path.Base(name), ".md"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		prompts = append(prompts, p)
	}
	return prompts, nil
}

func newPrompt(name, file string) (*prompt, error) {
	if len(file) > maxPrompt {
		return nil, fmt.Errorf("it has %d bytes, and %d is the limit", len(file), maxPrompt)
	}
	p := &prompt{described: &sdk.Prompt{Name: name}}
	text, err := p.readHead(strings.ReplaceAll(file, "\r\n", "\n"))
	if err != nil {
		return nil, err
	}
	if p.text, err = template.New(name).Option("missingkey=zero").Parse(text); err != nil {
		return nil, err
	}
	p.described.Arguments = arguments(p.text.Root, true)
	return p, nil
}

// readHead reads the lines "name: value" between two lines "---", and returns what follows.
func (p *prompt) readHead(file string) (text string, err error) {
	rest, ok := strings.CutPrefix(file, "---\n")
	if !ok {
		return file, nil
	}
	head, text, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return "", fmt.Errorf("its head does not end with a line ---")
	}
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "title":
			p.described.Title = value
		case "description":
			p.described.Description = value
		case "":
		default:
			return "", fmt.Errorf("its head has the line %q: want \"title: …\" or \"description: …\"", line)
		}
	}
	return text, nil
}

// arguments lists the fields of a template, in the order in which they stand there. Those inside of conditions are optional.
func arguments(node parse.Node, required bool) (list []*sdk.PromptArgument) {
	add := func(more []*sdk.PromptArgument) {
		for _, a := range more {
			at := slices.IndexFunc(list, func(known *sdk.PromptArgument) bool { return known.Name == a.Name })
			if at < 0 {
				list = append(list, a)
			} else {
				list[at].Required = list[at].Required || a.Required
			}
		}
	}
	branch := func(b *parse.BranchNode) {
		add(arguments(b.Pipe, false))
		add(arguments(b.List, false))
		if b.ElseList != nil {
			add(arguments(b.ElseList, false))
		}
	}
	switch n := node.(type) {
	case *parse.ListNode:
		for _, inner := range n.Nodes {
			add(arguments(inner, required))
		}
	case *parse.ActionNode:
		add(arguments(n.Pipe, required))
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			add(arguments(command, required))
		}
	case *parse.CommandNode:
		for _, inner := range n.Args {
			add(arguments(inner, required))
		}
	case *parse.FieldNode:
		add([]*sdk.PromptArgument{{Name: n.Ident[0], Required: required}})
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	}
	return list
}

// get fills the arguments into the prompt.
func (p *prompt) get(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	for _, a := range p.described.Arguments {
		if a.Required && r.Params.Arguments[a.Name] == "" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the prompt " + p.described.Name + " needs the argument " + a.Name}
		}
	}
	var text bytes.Buffer
	if err := p.text.Execute(&limitedWriter{&text, maxPrompt}, r.Params.Arguments); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the prompt " + p.described.Name + " cannot be written: " + err.Error()}
	}
	return &sdk.GetPromptResult{Description: p.described.Description,
		Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text.String()}}}}, nil
}

// limitedWriter refuses what goes beyond a limit, such as long arguments in a loop.
type limitedWriter struct {
	*bytes.Buffer
	left int
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, fmt.Errorf("it is longer than %d bytes", maxPrompt)
	}
	return w.Buffer.Write(p)
}
