package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The media types of the structured form, and of batches of it.
const (
	structuredType = "application/cloudevents+json"
	batchType      = "application/cloudevents-batch+json"
)

// maxBatch bounds the events of one request.
const maxBatch = 1000

// errForm means that a request has no form of CloudEvents that is known here.
var errForm = errors.New("want a CloudEvent: " + structuredType + ", " + batchType + ", or the headers Ce-Id, Ce-Source, Ce-Type and Ce-Specversion")

// errUnsigned means that a signed request has the attributes of its event in headers, which the signature does not cover: whoever has seen the request could
// send its data again as an event of another type.
var errUnsigned = errors.New("the signature covers the body alone: a signed event comes in the structured form, " + structuredType + ", or as a batch")

// inHeaders reports whether the attributes of an event are headers.
func inHeaders(header http.Header) bool {
	return header.Get("Ce-Specversion") != "" && !strings.HasPrefix(strings.ToLower(header.Get("Content-Type")), "application/cloudevents")
}

// readEvents reads the events of a request in any of the three forms.
func readEvents(header http.Header, body []byte) (events []Event, err error) {
	media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil && header.Get("Content-Type") != "" {
		return nil, errForm
	}
	if strings.HasPrefix(media, "application/cloudevents") && params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return nil, errForm
	}
	switch {
	case media == structuredType:
		var e Event
		if err := json.Unmarshal(body, &e); err != nil {
			return nil, err
		}
		return []Event{e}, nil
	case media == batchType:
		var raw []json.RawMessage
		if err := json.Unmarshal(body, &raw); err != nil {
			return nil, errors.New("the batch is no JSON list")
		}
		if len(raw) > maxBatch {
			return nil, fmt.Errorf("the batch has %d events; %d is the limit", len(raw), maxBatch)
		}
		events = make([]Event, len(raw))
		for i := range raw {
			if err := json.Unmarshal(raw[i], &events[i]); err != nil {
				return nil, fmt.Errorf("event %d of the batch: %w", i, err)
			}
		}
		return events, nil
	case strings.HasPrefix(media, "application/cloudevents") || header.Get("Ce-Specversion") == "":
		return nil, errForm
	}
	e, err := readBinary(header, body)
	return []Event{e}, err
}

// readBinary reads the form whose attributes are headers.
func readBinary(header http.Header, body []byte) (e Event, err error) {
	for name, values := range header {
		name, ours := strings.CutPrefix(strings.ToLower(name), "ce-")
		if !ours {
			continue
		}
		if len(values) > 1 {
			return e, fmt.Errorf("the header Ce-%.40s stands twice", name)
		}
		value, err := decodeHeader(values[0])
		if err != nil {
			return e, fmt.Errorf("the header Ce-%.40s: %w", name, err)
		}
		if name == "specversion" {
			if value != "1.0" {
				return e, fmt.Errorf("the event has the specversion %.20q; 1.0 is spoken here", value)
			}
		} else if name == "datacontenttype" {
			return e, errors.New("the datacontenttype of an event in this form is its Content-Type")
		} else if err := e.set(name, value); err != nil {
			return e, err
		}
	}
	e.DataType = header.Get("Content-Type")
	if len(body) > 0 {
		e.Data = body
	}
	return e, e.check()
}

// decodeHeader decodes the percent encoding of a header's value. A value in double quotes is the inside of them.
func decodeHeader(value string) (string, error) {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		value = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(value[1 : len(value)-1])
	}
	text, err := url.PathUnescape(value)
	if err != nil {
		return "", errors.New("its percent encoding is broken")
	}
	return text, nil
}

// encodeHeader encodes what is no printable ASCII, spaces, double quotes and percent signs.
func encodeHeader(value string) string {
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

// writeEvents puts events into a request: several are a batch.
func writeEvents(header http.Header, binary bool, events []Event) (body []byte, err error) {
	switch {
	case len(events) != 1:
		header.Set("Content-Type", batchType)
		return json.Marshal(events)
	case !binary:
		header.Set("Content-Type", structuredType)
		return json.Marshal(events[0])
	}
	e := &events[0]
	if err := e.check(); err != nil {
		return nil, err
	}
	header.Set("Ce-Specversion", "1.0")
	for name, value := range map[string]string{"id": e.ID, "source": e.Source, "type": e.Type, "subject": e.Subject, "dataschema": e.Schema} {
		if value != "" {
			header.Set("Ce-"+name, encodeHeader(value))
		}
	}
	if !e.Time.IsZero() {
		header.Set("Ce-Time", e.Time.Format(time.RFC3339Nano))
	}
	for name, value := range e.Extensions {
		header.Set("Ce-"+name, encodeHeader(value))
	}
	if e.Data != nil {
		header.Set("Content-Type", e.DataType)
		if e.DataType == "" {
			header.Set("Content-Type", "application/json")
		}
	}
	return e.Data, nil
}
