package layout

// Names finds the names of fields that differ from another name in their case only. The codecs match names with their case, so
// "userId" for a field "userID" would be skipped and the field be zero, and the writer would get no error. To match it without
// case would be as bad: what else reads the document (a proxy, a cache, an audit log) may take "ID" and "id" for two names. So
// the codecs refuse it.
//
// Only the letters of ASCII have a case here: other names that differ in case are different names to every reader.
type Names map[string]string // names of fields, by their form in lower case

// Add adds the name of a field.
func (n Names) Add(name string) { n[string(appendLower(nil, name))] = name }

// Like returns the name that differs from the given one in its case only; "" for none. The given name is that of no field.
func (n Names) Like(name string) string {
	var buffer [64]byte
	return n[string(appendLower(buffer[:0], name))]
}

func appendLower(dst []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
