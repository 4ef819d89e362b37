package dashboard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/sabir-go/sabir"
)

// file is one file of the page.
type file struct {
	content  []byte
	kind     string
	tag      string // its entity tag
	document bool   // shown after the login, unlike the styles and scripts that the login page needs too
}

var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

func readFiles(from fs.FS) (map[string]file, error) {
	files := make(map[string]file)
	err := fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		kind := kinds[path.Ext(name)]
		if kind == "" {
			return fmt.Errorf("dashboard: the file %s has no known type", name)
		}
		sum := sha256.Sum256(content)
		files["/"+name] = file{content, kind, `"` + hex.EncodeToString(sum[:12]) + `"`, name == "index.html"}
		return nil
	})
	return files, err
}

// servePage sends a file of the page. Browsers keep it and ask whether it is still the same.
func (b *dashboard) servePage(w http.ResponseWriter, r *http.Request, path string) {
	switch path {
	case "/":
		path = "/index.html"
	case "/login":
		if b.checkSession(r) == nil {
			http.Redirect(w, r, b.prefix+"/", http.StatusSeeOther)
			return
		}
		path = "/login.html"
	case "/index.html", "/login.html":
		path = "" // they have one address each
	}
	f, known := b.files[path]
	if !known {
		b.fail(w, sabir.Errorf(sabir.CodeNotFound, errNotFound.Name, "the dashboard has no page %.100q", r.URL.Path))
		return
	}
	if f.document && b.checkSession(r) != nil {
		http.Redirect(w, r, b.prefix+"/login", http.StatusSeeOther)
		return
	}
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", f.tag)
	if strings.Contains(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", f.kind)
	header.Set("Content-Length", fmt.Sprint(len(f.content)))
	if r.Method == http.MethodGet {
		w.Write(f.content)
	}
}
