package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/gofile"
	"github.com/sabir-go/sabir/internal/openapi"
	"github.com/sabir-go/sabir/internal/typescript"
)

// generator is one thing that sabir gen makes of an API.
type generator struct {
	name, short, long string
	example           string
	// prepare adds the flags of its own and gives the function that writes.
	prepare func(command *cobra.Command) func(w io.Writer, a api.API) error
	// prepareFolder does so for what writes several files into a folder where a flag says so; nil for what never does.
	prepareFolder func(command *cobra.Command) func(a api.API) ([]typescript.File, error)
}

var generators = []generator{
	{
		name:  "ts",
		short: "Write a TypeScript client",
		long: `Writes one TypeScript module without dependencies: the types of all inputs,
outputs and errors, a function for each action, and a client of all of them, for
browsers and Node 20 or later, with typed errors, retries, streams, uploads, batches
and checks of inputs. Write it into the sources of the program that calls, and again
when the API has changed: what does not fit any more does not compile.

With --package it writes an npm package instead, into the folder that --output names:
package.json, index.js (an ES module) and index.d.ts. Its version is the API's.

With --trpc it writes the type of a router instead, for @trpc/client 11 and a server
with trpc.At: the module has types only.`,
		example: `  sabir gen ts -o src/api.ts
  sabir gen ts https://api.example.com -o src/api.ts --header "Authorization: Bearer $TOKEN"
  sabir gen ts api.json --package @acme/shop -o packages/shop
  sabir gen ts --trpc -o src/router.ts
  sabir gen ts api.json > api.ts`,
		prepare: func(command *cobra.Command) func(w io.Writer, a api.API) error {
			router := command.Flags().Bool("trpc", false, "write the type of a router for clients of tRPC instead")
			return func(w io.Writer, a api.API) error {
				if *router {
					return typescript.WriteRouter(w, a)
				}
				return typescript.Write(w, a)
			}
		},
		prepareFolder: func(command *cobra.Command) func(a api.API) ([]typescript.File, error) {
			name := command.Flags().String("package", "", "write an npm package of this name, such as @acme/shop, into the folder of --output")
			return func(a api.API) ([]typescript.File, error) {
				if *name == "" {
					return nil, nil
				}
				return typescript.Package(a, *name)
			}
		},
	},
	{
		name:  "openapi",
		short: "Write an OpenAPI 3.1 document",
		long: `Writes an OpenAPI 3.1 document as JSON, with the schemas of all types, examples,
errors and ways to authenticate. Give it to tools that know OpenAPI.`,
		example: `  sabir gen openapi -o openapi.json
  sabir gen openapi https://api.example.com > openapi.json`,
		prepare: func(*cobra.Command) func(w io.Writer, a api.API) error { return writeDocument(openapi.Document) },
	},
	{
		name:  "asyncapi",
		short: "Write an AsyncAPI 3.0 document",
		long: `Writes an AsyncAPI 3.0 document as JSON: the events and durable channels of a
cluster (--join), with the types of their payloads and the services that send and
receive them. From one node over HTTP, or from its description, it has the events
that callers may listen to (Events of web.Config).`,
		example: `  sabir gen asyncapi --join tcp://:7700 -o asyncapi.json
  sabir gen asyncapi https://api.example.com > asyncapi.json`,
		prepare: func(*cobra.Command) func(w io.Writer, a api.API) error { return writeDocument(openapi.AsyncAPI) },
	},
	{
		name:  "go",
		short: "Write a Go package of contracts",
		long: `Writes one Go file for programs that call a service whose package they cannot
import, because it is in another repository: a struct for each type with its
validation rules, a contract for each action and stream, and for each event of a
cluster, and a variable for each error. A type with a form of its own that is not of
Go's library, such as a UUID, is a string there, which other nodes take in JSON only
(sabir.Codecs). Give the contracts to sabir.DependsOn, and they are compared with what the
cluster offers when the program starts.`,
		example: `  sabir gen go --package shop -o shop/shop.go
  sabir gen go https://api.example.com > contracts.go`,
		prepare: func(command *cobra.Command) func(w io.Writer, a api.API) error {
			pkg := command.Flags().String("package", gofile.DefaultPackage, "the name of the package")
			return func(w io.Writer, a api.API) error { return gofile.Write(w, a, *pkg) }
		},
	},
	protoGenerator,
	{
		name:  "api",
		short: "Write the description itself, to compare with later",
		long: `Writes the description that the other files are made from, as JSON. Keep it with
the sources, and compare with it before a release: sabir gen diff. That of a cluster
has the types of events and channels too.`,
		example: `  sabir gen api --join tcp://:7700 -o cluster.json
  sabir gen api http://127.0.0.1:3000 > api.json`,
		prepare: func(*cobra.Command) func(w io.Writer, a api.API) error { return writeDescription },
	},
}

func writeDescription(w io.Writer, a api.API) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

func writeDocument(document func(api.API) ([]byte, error)) func(w io.Writer, a api.API) error {
	return func(w io.Writer, a api.API) error {
		text, err := document(a)
		if err != nil {
			return err
		}
		_, err = w.Write(append(bytes.TrimRight(text, "\n"), '\n'))
		return err
	}
}

// genResult is the output of sabir gen with --json about a file that it wrote.
type genResult struct {
	File    string `json:"file"`
	Bytes   int    `json:"bytes"`
	Actions int    `json:"actions"`
	Changed bool   `json:"changed"` // the file had other contents before, or was not there
}

func (c *cli) genCommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "gen <what> [flags]",
		GroupID: groupMake,
		Short:   "Write clients and documents from what a node offers",
		Long: `Writes clients and documents from the description of what a node offers over
HTTP, and tells what changed between two of them. The description comes from

  the running node            (--url, or as an argument: https://api.example.com)
  a cluster                   (--join tcp://:7700)
  a file, or stdin with -     (curl 'http://127.0.0.1:3000/$api' > api.json)

A file makes it repeatable: keep it with the sources, and compare with it before
a release. What a gateway or a proxy demands besides the key goes with --header.`,
		Example: `  sabir gen ts -o src/api.ts
  sabir gen openapi -o openapi.json
  sabir gen go --package shop -o shop/shop.go
  sabir gen proto -o shop.proto --lock shop.proto.lock
  sabir gen diff api.json http://127.0.0.1:3000`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("gen needs what to write: %s", strings.Join(generatorNames(), ", "))
			}
			return usagef("gen cannot write %q: want one of %s", args[0], strings.Join(generatorNames(), ", "))
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args has refused
	}
	for _, g := range generators {
		command.AddCommand(c.generatorCommand(g))
	}
	command.AddCommand(c.genDiffCommand())
	command.PersistentFlags().StringArrayVar(&c.headers, "header", nil, "a header of requests for descriptions, \"Name: value\"; may be repeated")
	return command
}

func generatorNames() (names []string) {
	for _, g := range generators {
		names = append(names, g.name)
	}
	return append(names, "diff")
}

func (c *cli) generatorCommand(g generator) *cobra.Command {
	var file string
	var write func(w io.Writer, a api.API) error
	folder := func(api.API) ([]typescript.File, error) { return nil, nil }
	command := &cobra.Command{
		Use:     g.name + " [url or api.json] [flags]",
		Short:   g.short,
		Long:    g.long,
		Example: g.example,
		Args:    takes(0, 1, "one source: a URL, a file with a description, or - for stdin"),
		RunE: func(command *cobra.Command, args []string) error {
			source := ""
			if len(args) > 0 {
				source = args[0]
			}
			described, err := c.describedAPI(command.Context(), source)
			if err != nil {
				return err
			}
			files, err := folder(described)
			if err != nil {
				return failf("%w", err)
			}
			if files != nil {
				return c.writeFolder(file, files, len(described.Actions))
			}
			var text bytes.Buffer
			if err := write(&text, described); err != nil {
				if _, usage := errors.AsType[*usageError](err); usage {
					return err
				}
				return failf("%w", err)
			}
			if file == "" {
				_, err := c.stdout.Write(text.Bytes())
				return err
			}
			return c.writeGenerated(file, text.Bytes(), len(described.Actions))
		},
		ValidArgsFunction:     completeSource,
		DisableFlagsInUseLine: true,
	}
	command.Flags().StringVarP(&file, "output", "o", "", "the file to write (default stdout); one that says the same already is left as it is")
	write = g.prepare(command)
	if g.prepareFolder != nil {
		folder = g.prepareFolder(command)
	}
	command.Flags().SortFlags = false
	return command
}

// completeSource completes a source to files with descriptions.
func completeSource(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt
}

// writeGenerated writes a file, whole or not at all. One with the same bytes is not touched, so that what watches files
// does not build again.
func (c *cli) writeGenerated(file string, text []byte, actions int) error {
	result := genResult{File: file, Bytes: len(text), Actions: actions, Changed: true}
	told := c.stdout
	if isStream(file) {
		told = c.stderr // the file may be stdout
	} else if before, err := os.ReadFile(file); err == nil {
		result.Changed = !bytes.Equal(before, text)
	}
	if result.Changed {
		if err := replaceFile(file, text); err != nil {
			return failf("the file cannot be written: %w", err)
		}
	}
	if c.json {
		writeJSON(told, result)
		return nil
	}
	did := "wrote"
	if !result.Changed {
		did = "unchanged:"
	}
	size := plural(len(text), "byte")
	if actions > 0 { // a document of events may have none
		size = plural(actions, "action") + ", " + size
	}
	fmt.Fprintf(told, "%s %s (%s)\n", did, file, size)
	return nil
}

// isStream reports whether a name is that of a device or a pipe, such as /dev/stdout: such is written to, never replaced, and not read.
func isStream(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// writeFolder writes the files of a package.
func (c *cli) writeFolder(folder string, files []typescript.File, actions int) error {
	if folder == "" {
		return usagef("a package is several files: name their folder with --output")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return failf("the folder cannot be made: %w", err)
	}
	for _, f := range files {
		if err := c.writeGenerated(filepath.Join(folder, f.Name), f.Text, actions); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile puts a file with the text in the place of one that may be there, whose mode and links stay.
func replaceFile(file string, text []byte) error {
	if isStream(file) {
		return os.WriteFile(file, text, 0o644)
	}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		if info.IsDir() {
			return fmt.Errorf("%s is a folder", file)
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already where all went well
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
