package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/secret"
)

// leaf is a setting with a value of its own, such as http.address.
type leaf struct {
	path   string
	value  reflect.Value
	field  reflect.StructField
	secret bool
}

var (
	secretType   = reflect.TypeFor[secret.Secret]()
	durationType = reflect.TypeFor[time.Duration]()
)

// nameOf is the name of a field in files; "" for one that is no setting.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case !f.IsExported() || name == "-":
		return ""
	case name == "":
		return f.Name
	}
	return name
}

// isText reports whether a setting of the type is a text that the type reads itself, such as a netip.Addr, a time.Time or a slog.Level.
func isText(t reflect.Type) bool {
	return t != secretType && t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// isSection reports whether a type has settings, and is not one.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != secretType && !isText(t)
}

// isSections reports whether a type has sections by names, as policies are.
func isSections(t reflect.Type) bool {
	return t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && isSection(t.Elem())
}

// fieldsOf lists the settings of a section. Those of an embedded struct without a name are the section's own, as in JSON and in the paths of
// validation; one of the section itself goes before them.
func fieldsOf(t reflect.Type) (list []reflect.StructField) {
	for _, f := range reflect.VisibleFields(t) {
		name := nameOf(f)
		if name == "" || isEmbedded(f) {
			continue
		}
		direct := true
		for depth := 1; depth < len(f.Index); depth++ {
			direct = direct && isEmbedded(t.FieldByIndex(f.Index[:depth]))
		}
		same := func(other reflect.StructField) bool { return nameOf(other) == name }
		if i := slices.IndexFunc(list, same); direct && i < 0 {
			list = append(list, f)
		} else if direct && len(f.Index) < len(list[i].Index) {
			list[i] = f
		}
	}
	return list
}

func isEmbedded(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return f.Anonymous && name == "" && isSection(f.Type)
}

// leaves lists the settings of a struct, in the order of its fields; of a map with the entries that are there.
func leaves(prefix string, v reflect.Value, field reflect.StructField) (list []leaf) {
	switch {
	case isSection(v.Type()):
		for _, f := range fieldsOf(v.Type()) {
			list = append(list, leaves(join(prefix, nameOf(f)), v.FieldByIndex(f.Index), f)...)
		}
		return list
	case isSections(v.Type()):
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			list = append(list, leaves(join(prefix, k.String()), v.MapIndex(k), field)...)
		}
		return list
	}
	return []leaf{{path: prefix, value: v, field: field, secret: v.Type() == secretType}}
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// set puts what a source has into a setting, and what is below it. It notes the origin of each value.
func (l *Loaded) set(v reflect.Value, path string, raw any, origin string) error {
	if raw == nil {
		return nil
	}
	switch {
	case isSection(v.Type()):
		return l.setFields(v, path, raw, origin)
	case isSections(v.Type()):
		entries, ok := raw.(map[string]any)
		if !ok {
			return wrongKind(path, origin, "a section")
		}
		var errs []error
		for _, key := range sortedKeys(entries) {
			entry := reflect.New(v.Type().Elem()).Elem()
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			name := reflect.ValueOf(key).Convert(v.Type().Key())
			if old := v.MapIndex(name); old.IsValid() {
				entry.Set(old)
			}
			errs = append(errs, l.set(entry, join(path, key), entries[key], origin))
			v.SetMapIndex(name, entry)
		}
		return errors.Join(errs...)
	}
	if err := convert(v, raw); err != nil {
		return fmt.Errorf("%s: %s: %w", origin, path, err)
	}
	l.origins[path] = origin
	return nil
}

// setFields sets the fields of a struct. A name that ends in _file stands for a secret that is in a file.
func (l *Loaded) setFields(v reflect.Value, path string, raw any, origin string) error {
	section, ok := raw.(map[string]any)
	if !ok {
		return wrongKind(path, origin, "a section")
	}
	known := map[string][]int{}
	var list []string
	for _, f := range fieldsOf(v.Type()) {
		known[nameOf(f)] = f.Index
		list = append(list, nameOf(f))
	}
	var errs []error
	for _, name := range sortedKeys(section) {
		index, found := known[name]
		raw := section[name]
		if short, file := strings.CutSuffix(name, "_file"); !found && file {
			if index, found = known[short]; found && v.FieldByIndex(index).Type() == secretType {
				if _, both := section[short]; both {
					errs = append(errs, fmt.Errorf("%s: %s and %s are both set: which is it?", origin, join(path, short), join(path, name)))
					continue
				}
				text, err := readSecret(raw)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %s: %w", origin, join(path, name), err))
					continue
				}
				name, raw = short, text
			} else {
				found = false
			}
		}
		if !found {
			errs = append(errs, unknown(join(path, name), path, name, list, origin))
			continue
		}
		errs = append(errs, l.set(v.FieldByIndex(index), join(path, name), raw, origin))
	}
	return errors.Join(errs...)
}

func sortedKeys(m map[string]any) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func wrongKind(path, origin, want string) error {
	return fmt.Errorf("%s: %s: want %s", origin, path, want)
}

func unknown(full, path, name string, known []string, origin string) error {
	hint := ""
	if slices.Contains(known, name+"_file") {
		hint = "; did you mean " + join(path, name) + "_file?"
	} else if near := names.Nearest(name, known); near != nil {
		hint = "; did you mean " + join(path, near[0]) + "?"
	}
	return fmt.Errorf("%s: there is no setting %s%s", origin, full, hint)
}

// convert sets a value from what a file or a text has.
func convert(v reflect.Value, raw any) error {
	text := fmt.Sprint(raw)
	_, isList := raw.([]any)
	_, isMap := raw.(map[string]any)
	switch {
	case v.Kind() == reflect.Pointer: // nil where nothing sets it
		to := reflect.New(v.Type().Elem())
		if err := convert(to.Elem(), raw); err != nil {
			return err
		}
		v.Set(to)
		return nil
	case !isSettable(v.Type()):
		return fmt.Errorf("a setting cannot have the type %s", v.Type())
	case isText(v.Type()) && reflect.TypeOf(raw).AssignableTo(v.Type()): // a time of YAML or TOML
		v.Set(reflect.ValueOf(raw))
		return nil
	}
	if (isList && v.Kind() != reflect.Slice) || (isMap && v.Kind() != reflect.Map) {
		return fmt.Errorf("want one value of the kind %s", kindOf(v.Type()))
	}
	if _, isText := raw.(string); !isText && kindOf(v.Type()) == "string" && v.Type() != durationType {
		// 1.10 and 007 are numbers to YAML, and would come as 1.1 and 7.
		return fmt.Errorf("want a text, and %s is none: put it between quotes", text)
	}
	switch {
	case v.Type() == secretType:
		v.Set(reflect.ValueOf(secret.New(text)))
		return nil
	case v.Type() == durationType:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is no duration: want one such as 1.5s or 2m", text)
		}
		v.SetInt(int64(d))
		return nil
	case isText(v.Type()):
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
			return fmt.Errorf("%q is no %s: %w", text, v.Type(), err)
		}
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no whole number in the range of %s", text, v.Type())
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no whole number in the range of %s", text, v.Type())
		}
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no number", text)
		}
		v.SetFloat(n)
	case reflect.Slice:
		return convertList(v, raw)
	case reflect.Map:
		return convertMap(v, raw)
	}
	return nil
}

// isSettable reports whether a setting of the type can be made of what a file or a text has.
func isSettable(t reflect.Type) bool {
	switch {
	case t == secretType || isText(t):
		return true
	case t.Kind() == reflect.Slice:
		return isSettable(t.Elem())
	case t.Kind() == reflect.Map:
		return t.Key().Kind() == reflect.String && isSettable(t.Elem())
	}
	return t.Kind() == reflect.String || t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 && t.Kind() != reflect.Uintptr
}

// convertList takes a list, or a text of elements between commas.
func convertList(v reflect.Value, raw any) error {
	elements, ok := raw.([]any)
	if !ok {
		for part := range strings.SplitSeq(fmt.Sprint(raw), ",") {
			if part = strings.TrimSpace(part); part != "" {
				elements = append(elements, part)
			}
		}
	}
	list := reflect.MakeSlice(v.Type(), len(elements), len(elements))
	for i, e := range elements {
		if err := convert(list.Index(i), e); err != nil {
			return err
		}
	}
	v.Set(list)
	return nil
}

// convertMap takes a section, or a text such as "rack=a,disk=ssd".
func convertMap(v reflect.Value, raw any) error {
	entries, ok := raw.(map[string]any)
	if !ok {
		entries = map[string]any{}
		for part := range strings.SplitSeq(fmt.Sprint(raw), ",") {
			key, value, found := strings.Cut(strings.TrimSpace(part), "=")
			if !found {
				return fmt.Errorf("%q is no list of name=value", fmt.Sprint(raw))
			}
			if _, twice := entries[key]; twice {
				return fmt.Errorf("%q has the name %s twice", fmt.Sprint(raw), key)
			}
			entries[key] = value
		}
	}
	m := reflect.MakeMap(v.Type())
	for _, key := range sortedKeys(entries) {
		element := reflect.New(v.Type().Elem()).Elem()
		if err := convert(element, entries[key]); err != nil {
			return err
		}
		m.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), element)
	}
	v.Set(m)
	return nil
}

// kindOf names the kind of a setting, in the words of JSON schema.
func kindOf(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return kindOf(t.Elem())
	case t == secretType, t == durationType, t.Kind() == reflect.String, isText(t):
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.Slice:
		return "array"
	case t.Kind() == reflect.Map, t.Kind() == reflect.Struct:
		return "object"
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return "number"
	}
	return "integer"
}
