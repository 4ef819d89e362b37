package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir/internal/cloudevent"
)

// The media types of the structured form, and of batches of it.
const (
	structuredType = cloudevent.StructuredType
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
	attributes := make(map[string]string)
	for name, values := range header {
		name, ours := strings.CutPrefix(strings.ToLower(name), cloudevent.Prefix)
		if !ours {
			continue
		}
		if len(values) > 1 {
			return e, fmt.Errorf("the header Ce-%.40s stands twice", name)
		}
		if name == cloudevent.ContentType {
			return e, errors.New("the datacontenttype of an event in this form is its Content-Type")
		}
		attributes[name] = cloudevent.DecodeHeader(values[0])
	}
	attributes[cloudevent.ContentType] = header.Get("Content-Type")
	err = e.setAttributes(attributes, body)
	return e, err
}

// writeEvents puts events into a request: several are a batch.
func writeEvents(header http.Header, binary bool, events []Event) (body []byte, err error) {
	switch {
	case len(events) != 1:
		header.Set("Content-Type", batchType)
		return json.Marshal(events)
	case !binary:
		header.Set("Content-Type", structuredType)
		return events[0].MarshalJSON() // json.Marshal would write the data anew
	}
	attributes, err := events[0].attributes()
	if err != nil {
		return nil, err
	}
	for name, value := range attributes {
		if name != cloudevent.ContentType {
			header.Set("Ce-"+name, cloudevent.EncodeHeader(value))
		} else if events[0].Data != nil {
			header.Set("Content-Type", value)
		}
	}
	return events[0].Data, nil
}
