package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"
)

//go:embed page.html
var pageHTML string

//go:embed style.css
var style []byte

//go:embed search.js
var script []byte

// entry is a page as the search reads it.
type entry struct {
	URL      string   `json:"u"`
	Title    string   `json:"t"`
	Headings []string `json:"h"` // "id title"
	Text     string   `json:"x"`
}

// build writes the site of the pages in source, and below it the sites of released versions, and returns how many pages source has.
func build(source, out string, tags ...string) (int, error) {
	newest := &version{Name: "main"}
	versions, sources := []*version{newest}, []string{source}
	if len(tags) > 0 {
		scratch, err := os.MkdirTemp("", "sabir-site-")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(scratch)
		for _, tag := range tags {
			folder, err := checkOut(filepath.Dir(filepath.Clean(source)), tag, scratch)
			if err != nil {
				return 0, err
			}
			versions, sources = append(versions, &version{Name: tag, Dir: tag + "/"}), append(sources, folder)
		}
	}
	for i, v := range versions {
		pages, err := pagesOf(sources[i], v.Name)
		if err != nil {
			return 0, err
		}
		v.pages = pages
	}
	for i, v := range versions {
		if err := v.write(versions, sources[i], filepath.Join(out, v.Dir)); err != nil {
			return 0, err
		}
	}
	return len(newest.pages), nil
}

// write writes the site of one version.
func (v *version) write(versions []*version, source, out string) error {
	sections := arrange(v.pages)
	var order []*page
	for _, s := range sections {
		order = append(order, s.Pages...)
	}
	layout, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return err
	}
	var index []entry
	var list bytes.Buffer
	fmt.Fprintf(&list, "# Sabir\n\n> A service runtime for Go: typed functions as services, in one process, over HTTP and over a cluster.\n")
	for _, s := range sections {
		fmt.Fprintf(&list, "\n## %s\n\n", s.Title)
		for _, p := range s.Pages {
			fmt.Fprintf(&list, "- [%s](%s.md): %s\n", p.Title, p.Name, p.Summary)
		}
	}
	for i, p := range order {
		data := map[string]any{
			"Page": p, "Sections": sections, "Body": template.HTML(p.HTML),
			"Repository": repository, "Version": v, "Versions": choices(versions, v, p),
		}
		if v.Dir == "" {
			data["Edit"] = repository + "/edit/main/docs/" + p.Name + ".md"
		}
		if i > 0 {
			data["Before"] = order[i-1]
		}
		if i+1 < len(order) {
			data["After"] = order[i+1]
		}
		var b bytes.Buffer
		if err := layout.Execute(&b, data); err != nil {
			return err
		}
		e := entry{URL: p.URL(), Title: p.Title, Text: p.Text, Headings: []string{}}
		for _, h := range p.Headings {
			e.Headings = append(e.Headings, h.ID+" "+h.Title)
		}
		index = append(index, e)
		if err := cmp.Or(write(out, p.URL(), b.Bytes()), write(out, p.Name+".md", p.Markdown)); err != nil {
			return err
		}
	}
	search, err := json.Marshal(index)
	if err != nil {
		return err
	}
	err = cmp.Or(
		write(out, "search.json", search), write(out, "llms.txt", list.Bytes()),
		write(out, "style.css", style), write(out, "search.js", script), write(out, ".nojekyll", nil),
		copyPictures(source, out))
	return err
}

func write(out, name string, text []byte) error {
	file := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

func copyPictures(source, out string) error {
	return filepath.WalkDir(source, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".svg" {
			return err
		}
		picture, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return write(out, filepath.ToSlash(strings.TrimPrefix(file, source+string(filepath.Separator))), picture)
	})
}
