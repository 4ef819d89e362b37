package web

import (
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// Static serves the files of a file system, such as os.DirFS("public") or an embed.FS, below the prefix under which [Config].Mount has it; where
// another handler is around it, below the root. GET and HEAD, ranges and conditional requests work, other methods are 405; a folder answers
// with its index.html, never with a list. Names that begin with a dot are not found, except .well-known.
func Static(files fs.FS) http.Handler { return static{noLists{files}} }

type static struct{ files noLists }

func (s static) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.below("").ServeHTTP(w, r) }

// below is the handler for requests whose paths begin with the prefix.
func (s static) below(prefix string) http.Handler {
	bare := strings.TrimSuffix(prefix, "/")
	files := http.StripPrefix(bare, http.FileServerFS(s.files))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			if _, err := fs.Stat(s.files, strings.Trim(path.Clean("./"+strings.TrimPrefix(r.URL.Path, bare)), "/")); err != nil {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "files are only read: use GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		if bare != "" && r.URL.Path == bare { // so that links in its index mean what is below it
			http.Redirect(w, r, path.Base(bare)+"/", http.StatusPermanentRedirect)
			return
		}
		files.ServeHTTP(w, r)
	})
}

// noLists is a file system whose folders can be opened only if they have an index.html, so that none is listed. Names that
// begin with a dot, such as .git and .env, do not exist in it, except .well-known (RFC 8615).
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
