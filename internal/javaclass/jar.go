package javaclass

import (
	"archive/zip"
	"fmt"
	"io"
	"path"
	"strings"
)

// Bounds of a jar.
const (
	maxFiles = 100_000
	maxClass = 4 << 20   // bytes of a class
	maxBytes = 512 << 20 // of all classes
)

// Classes are classes by their names.
type Classes map[string]*Class

// ReadJar adds the classes of a jar. Where one is there already, that one stays, as it does on Java's path of classes.
func (c Classes) ReadJar(file string) error {
	jar, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("%s cannot be read as a jar: %w", file, err)
	}
	defer jar.Close()
	if len(jar.File) > maxFiles {
		return fmt.Errorf("%s has %d files: at most %d are read", file, len(jar.File), maxFiles)
	}
	left := int64(maxBytes)
	for _, f := range jar.File {
		base := path.Base(f.Name)
		if !strings.HasSuffix(base, ".class") || base == "module-info.class" || base == "package-info.class" || strings.HasPrefix(f.Name, "META-INF/") {
			continue
		}
		class, size, err := readClass(f, min(left, maxClass))
		if err != nil {
			return fmt.Errorf("%.200q of %s: %w", f.Name, file, err)
		}
		left -= size
		if c[class.Name] == nil {
			c[class.Name] = class
		}
	}
	return nil
}

func readClass(f *zip.File, limit int64) (*Class, int64, error) {
	in, err := f.Open()
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, 0, err
	}
	if int64(len(data)) > limit {
		return nil, 0, fmt.Errorf("it is larger than the %d bytes that are read of a class, or of what is left of %d for all", maxClass, maxBytes)
	}
	class, err := Parse(data)
	return class, int64(len(data)), err
}
