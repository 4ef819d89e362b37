// Package cloudevent is the part of CloudEvents that the door for webhooks and the engines of channels share: how attributes stand in headers.
package cloudevent

import (
	"fmt"
	"iter"
	"net/url"
	"strings"
)

// StructuredType is the media type of an event in the structured mode, as JSON.
const StructuredType = "application/cloudevents+json"

// Prefix begins the names of the headers in HTTP and in NATS, and of the fields in Redis.
const Prefix = "ce-"

const mediaHeader = "Content-Type"

// ContentType is the attribute with the media type of a message's data. In the structured mode it is the only one beside the data.
const ContentType = "datacontenttype"

// IsStructured reports whether a media type is one of the structured mode, in whichever format.
func IsStructured(media string) bool {
	const start = "application/cloudevents"
	return len(media) >= len(start) && strings.EqualFold(media[:len(start)], start)
}

// Attributes collects the attributes of a message from its headers of NATS, or fields of Redis: nil where it has none. It is an error where one stands twice.
func Attributes(headers iter.Seq2[string, string]) (attributes map[string]string, err error) {
	add := func(name, value string) {
		if attributes == nil {
			attributes = make(map[string]string)
		}
		attributes[name] = value
	}
	media := ""
	for header, value := range headers {
		if strings.EqualFold(header, mediaHeader) {
			media = value
			continue
		}
		if len(header) <= len(Prefix) || !strings.EqualFold(header[:len(Prefix)], Prefix) {
			continue
		}
		name := strings.ToLower(header[len(Prefix):])
		if _, twice := attributes[name]; twice {
			return nil, fmt.Errorf("the message has the attribute %.40q of an event twice", name)
		}
		add(name, value)
	}
	if media != "" && (IsStructured(media) || attributes[ContentType] == "") {
		add(ContentType, media)
	}
	return attributes, nil
}

// Headers has the headers of NATS, or the fields of Redis, for the attributes of a message.
func Headers(attributes map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for name, value := range attributes {
			header := Prefix + name
			if name == ContentType && (len(attributes) == 1 || IsStructured(value)) {
				header = mediaHeader
			}
			if !yield(header, value) {
				return
			}
		}
	}
}

// DecodeHeader decodes the percent encoding of a header's value. A value in double quotes is the inside of them. A value whose encoding is broken
// stays as it is: the SDKs for Go and Java encode nothing, and send "100%" so.
func DecodeHeader(value string) string {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		value = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(value[1 : len(value)-1])
	}
	if text, err := url.PathUnescape(value); err == nil {
		return text
	}
	return value
}

// EncodeHeader encodes what is no printable ASCII, spaces, double quotes and percent signs.
func EncodeHeader(value string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		if c > ' ' && c < 0x7f && c != '"' && c != '%' {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
