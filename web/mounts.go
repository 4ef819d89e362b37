package web

import (
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/web/api"
	"github.com/sabir-go/sabir/web/exchange"
)

// mounted is a handler under a prefix.
type mounted struct {
	prefix  string
	handler http.Handler
	public  bool // it checks by itself who calls
}

// mount makes the handlers that were mounted, those with the longest prefix first.
func (f *face) mount(loopback bool) error {
	for _, m := range f.settings.mounts {
		site := Site{Node: f.node, Prefix: m.prefix, Key: f.config.Key, Loopback: loopback, Open: f.settings.open,
			API: func() api.API { return f.api() }}
		h, err := m.make(site)
		if err != nil {
			return fmt.Errorf("mounting %s: %w", m.prefix, err)
		}
		if h == nil {
			return fmt.Errorf("mounting %s: there is no handler", m.prefix)
		}
		own, _ := h.(interface{ Public() bool })
		f.mounts = append(f.mounts, &mounted{m.prefix, h, own != nil && own.Public()})
	}
	slices.SortStableFunc(f.mounts, func(a, b *mounted) int { return len(b.prefix) - len(a.prefix) })
	return nil
}

// mounted is the handler for a path, or nil.
func (f *face) mounted(path string) *mounted {
	for _, m := range f.mounts {
		if under(path, m.prefix) {
			return m
		}
	}
	return nil
}

// doorOf is the door of a path: the group with the longest prefix that it is under, else the root.
func (f *face) doorOf(path string) *door {
	best := &f.settings.root
	for _, d := range f.settings.groups {
		if under(path, d.prefix) && len(d.prefix) > len(best.prefix) {
			best = d
		}
	}
	return best
}

// visitMounted lets a request pass the steps of the root and hands it over.
func (f *face) visitMounted(w http.ResponseWriter, r *http.Request, x *exchange.Exchange, m *mounted) {
	root := &f.settings.root
	steps := root.steps
	if m.public {
		steps = root.open
	}
	v := visit{Exchange: x, face: f, to: &target{door: root, path: m.prefix}}
	passed := 0
	if err := v.enter(steps, &passed); err != nil {
		v.fail(err)
		v.leave(steps[:passed])
		write(w, r, x)
		return
	}
	f.headers(w, x)
	m.handler.ServeHTTP(w, r)
}

// noLists is a file system whose folders can be opened only where they have an index.html, so that none is listed, and
// in which nothing is below a name with a dot at its start, such as .git and .env, except .well-known (RFC 8615).
type noLists struct{ fs.FS }

// Open opens a file, and a folder with an index.
func (n noLists) Open(name string) (fs.File, error) {
	none := !fs.ValidPath(name) || strings.Contains(name, "\x00") // a fault of the request, not of the file system
	for part := range strings.SplitSeq(name, "/") {
		none = none || strings.HasPrefix(part, ".") && part != ".well-known" && name != "."
	}
	if none {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	file, err := n.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		var index fs.FileInfo
		if index, err = fs.Stat(n.FS, path.Join(name, "index.html")); err == nil && !index.Mode().IsRegular() {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
