package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// version is the pages of one state of the repository.
type version struct {
	Name  string // a tag, or "main"
	Dir   string // where they are below the root of the site, with a slash at its end; "" for the newest
	pages []*page
}

// choice is the same page in another version, or that version's first page where it has none.
type choice struct {
	Name, URL string
	Current   bool
}

// choices are the versions as a page of the site links to them.
func choices(versions []*version, own *version, p *page) (list []choice) {
	root := p.Up() + strings.Repeat("../", strings.Count(own.Dir, "/"))
	for _, v := range versions {
		to := "index.html"
		if slices.ContainsFunc(v.pages, func(other *page) bool { return other.Name == p.Name }) {
			to = p.URL()
		}
		list = append(list, choice{v.Name, root + v.Dir + to, v == own})
	}
	return list
}

// released returns the last tag of each minor version, the newest first.
func released(tags []string) []string {
	tags = slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return !semver.IsValid(tag) || semver.Prerelease(tag) != "" })
	slices.SortFunc(tags, func(a, b string) int { return semver.Compare(b, a) })
	return slices.CompactFunc(tags, func(a, b string) bool { return semver.MajorMinor(a) == semver.MajorMinor(b) })
}

// tagsOf are the tags of the repository in a folder.
func tagsOf(folder string) ([]string, error) {
	out, err := exec.Command("git", "-C", folder, "tag", "--list", "v*").Output()
	if err != nil {
		return nil, fmt.Errorf("git tag: %w", err)
	}
	return strings.Fields(string(out)), nil
}

// maxFile bounds one file of an archive.
const maxFile = 16 << 20

// checkOut writes the docs of a tag of the repository in a folder below another folder, and returns where they are.
func checkOut(folder, tag, below string) (string, error) {
	var archive, problem bytes.Buffer
	git := exec.Command("git", "-C", folder, "archive", "--format=tar", tag, "--", "docs")
	git.Stdout, git.Stderr = &archive, &problem
	if err := git.Run(); err != nil {
		return "", fmt.Errorf("git archive %s: %w: %s", tag, err, problem.String())
	}
	root, err := os.OpenRoot(below)
	if err != nil {
		return "", err
	}
	defer root.Close()
	for files := tar.NewReader(&archive); ; {
		head, err := files.Next()
		if err == io.EOF {
			return filepath.Join(below, tag, "docs"), nil
		}
		if err != nil {
			return "", err
		}
		if ext := filepath.Ext(head.Name); head.Typeflag != tar.TypeReg || ext != ".md" && ext != ".svg" {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(files, maxFile))
		name := filepath.Join(tag, filepath.FromSlash(head.Name))
		if err := cmp.Or(err, root.MkdirAll(filepath.Dir(name), 0o755), root.WriteFile(name, text, 0o644)); err != nil {
			return "", err
		}
	}
}
