package javaclass

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Bounds of a jar.
const (
	maxFiles  = 200_000   // with those of the jars within
	maxClass  = 4 << 20   // bytes of a class
	maxNested = 256 << 20 // bytes of a jar within
	maxBytes  = 1 << 30   // of all classes and of the jars within
)

// Classes are classes by their names.
type Classes map[string]*Class

// ReadJar adds the classes of a jar. Where one is there already, that one stays, as it does on Java's path of classes. Of a jar of Spring Boot,
// or of a .war, the classes are those of the program and then those of its libraries, which are jars within; in these no further jars are read.
// A class that cannot be read is there with its Fault.
func (c Classes) ReadJar(file string) error {
	jar, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("%s cannot be read as a jar: %w", file, err)
	}
	defer jar.Close()
	r := jarReader{classes: c, files: maxFiles, left: maxBytes}
	if err := r.readClasses(&jar.Reader, file); err != nil {
		return err
	}
	r.library = true
	for _, f := range jar.File {
		if folder := path.Dir(f.Name); !strings.HasSuffix(f.Name, ".jar") || folder != "BOOT-INF/lib" && folder != "WEB-INF/lib" {
			continue
		}
		if err := r.readNested(f); err != nil {
			return fmt.Errorf("%.200q of %s: %w", f.Name, file, err)
		}
	}
	return nil
}

// jarReader reads the classes of a jar and of the jars within.
type jarReader struct {
	classes Classes
	files   int   // how many may still be seen
	left    int64 // how many bytes may still be read
	library bool  // what is read now is a jar within
}

func (r *jarReader) readClasses(jar *zip.Reader, file string) error {
	if r.files -= len(jar.File); r.files < 0 {
		return fmt.Errorf("%s has too many files: at most %d are read, with those of the jars within", file, maxFiles)
	}
	for _, f := range jar.File {
		base := path.Base(f.Name)
		if !strings.HasSuffix(base, ".class") || base == "module-info.class" || base == "package-info.class" || strings.HasPrefix(f.Name, "META-INF/") {
			continue
		}
		data, err := r.read(f, maxClass)
		if errors.Is(err, errAllRead) {
			return fmt.Errorf("%.200q of %s: %w", f.Name, file, err)
		}
		var class *Class
		if err == nil {
			class, err = Parse(data)
		}
		if err != nil {
			name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(f.Name, "BOOT-INF/classes/"), "WEB-INF/classes/"), ".class")
			if !isName(name, "/$") {
				continue // nothing refers to it
			}
			class = &Class{Name: dotted(name), Fault: fmt.Errorf("%.200q of %s: %w", f.Name, file, err)}
		}
		if class.Library = r.library; r.classes[class.Name] == nil {
			r.classes[class.Name] = class
		}
	}
	return nil
}

func (r *jarReader) readNested(f *zip.File) error {
	data, err := r.read(f, maxNested)
	if err != nil {
		return err
	}
	jar, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("it cannot be read as a jar: %w", err)
	}
	return r.readClasses(jar, "it")
}

func (r *jarReader) read(f *zip.File, most int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, min(r.left, most)+1))
	if r.left -= int64(len(data)); r.left < 0 {
		r.left = 0
		return nil, errAllRead
	}
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than the %d bytes that are read of one", most)
	}
	return data, err
}

// errAllRead ends what would read more than the bound for all.
var errAllRead = fmt.Errorf("it is larger than what is left of the %d bytes that are read of all", maxBytes)
