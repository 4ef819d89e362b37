package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/sabir-go/sabir/internal/redact"
	"github.com/sabir-go/sabir/secret"
)

// maxFile bounds the size of a file.
const maxFile = 1 << 20

// readFile reads a file by its ending.
func readFile(path string) (map[string]any, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("the file %s has %d bytes, and may have %d", path, info.Size(), maxFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	tree, err := parse(filepath.Ext(path), text)
	if err != nil {
		return nil, fmt.Errorf("the file %s: %w", path, err)
	}
	return tree, nil
}

// parse reads the text of a file.
func parse(extension string, text []byte) (tree map[string]any, err error) {
	switch extension {
	case ".yaml", ".yml":
		d := yaml.NewDecoder(bytes.NewReader(text))
		if err = d.Decode(&tree); err == nil && d.Decode(new(any)) != io.EOF {
			err = errors.New("there is something behind the document")
		}
		if err == io.EOF { // there is none
			err = nil
		}
	case ".toml":
		err = toml.Unmarshal(text, &tree)
	case ".json":
		if name, found := givenTwice(json.NewDecoder(bytes.NewReader(text))); found {
			return nil, fmt.Errorf("json: the name %q is given twice in one section", name)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber() // 1000000 as a float64 would be the text 1e+06
		if err = d.Decode(&tree); err == nil && d.More() {
			err = errors.New("there is something behind the document")
		}
	default:
		err = fmt.Errorf("its name must end in .yaml, .yml, .toml or .json")
	}
	return tree, err
}

// givenTwice finds a name that a section has twice, which the decoder itself takes, the last one counting. What is no JSON it leaves to that.
func givenTwice(d *json.Decoder) (name string, found bool) {
	token, err := d.Token()
	opening, nests := token.(json.Delim)
	if err != nil || !nests {
		return "", false
	}
	names := map[string]bool{}
	for d.More() {
		if opening == '{' {
			key, err := d.Token()
			if err != nil {
				return "", false
			}
			name, _ := key.(string)
			if names[name] {
				return name, true
			}
			names[name] = true
		}
		if name, found := givenTwice(d); found {
			return name, true
		}
	}
	_, _ = d.Token() // what closes it
	return "", false
}

// shown is the value of a setting for people.
func shown(one leaf) string {
	switch v := one.value; {
	case one.secret:
		return v.Interface().(secret.Secret).String()
	case v.Kind() == reflect.Pointer && v.IsNil():
		return ""
	case v.Kind() == reflect.Pointer:
		return withoutPassword(fmt.Sprint(v.Elem().Interface()))
	case v.Kind() == reflect.String:
		return withoutPassword(v.String())
	case v.Kind() == reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = withoutPassword(fmt.Sprint(v.Index(i).Interface()))
		}
		return strings.Join(parts, ",")
	case v.Kind() == reflect.Map:
		var parts []string
		for _, k := range v.MapKeys() {
			parts = append(parts, fmt.Sprintf("%v=%v", k, v.MapIndex(k)))
		}
		return strings.Join(sorted(parts), ",")
	}
	return fmt.Sprint(one.value.Interface())
}

func withoutPassword(text string) string {
	if strings.Contains(text, "@") && strings.Contains(text, "://") {
		return redact.URL(text)
	}
	return text
}
