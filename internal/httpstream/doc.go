// Package httpstream serves streams and events to callers over HTTP: as Server-Sent Events, as lines of JSON (NDJSON), over
// WebSocket, and as plain uploads and downloads. Package web finds the action and checks the caller; this package has
// the wire forms.
//
// # What a request brings
//
//	nothing                                no input; the handler's Recv returns io.EOF at once
//	application/json                       one input
//	application/x-ndjson, …/ndjson         any number of inputs, one on each line; blank lines are skipped
//	application/octet-stream               an upload, for an action whose input is []byte: chunks of up to 32 KiB are its inputs
//	multipart/form-data with one file      the same; the form may have no other part
//	Upgrade: websocket                     any number of inputs, each in a message
//
// A broken body ends the handler's context; an upload that breaks off is never taken for a whole one, whose end the handler
// sees as io.EOF. A handler may keep the chunks it gets, unless its action is made with [ReuseUploadBuffers]. The metadata
// "file-name" is the last part of the name that came with an upload (of a multipart file, or of a Content-Disposition header),
// without control characters; "content-type" is the media type. The caller states both, and nothing checks them. Downloads do
// not support byte ranges: the header Range is ignored, and answers have Accept-Ranges: none.
//
// # What an answer looks like
//
// The header Accept chooses; on a tie what stands first here:
//
//	text/event-stream          "id: n" and "data: <json>" for each value, at the end "event: end" and "data: {}", or
//	                           "event: error" with the problem document as data
//	application/x-ndjson       a value a line. After an error the last line is the problem document, and the body is broken
//	                           off: no final chunk comes (in HTTP/2 the stream is reset), so it cannot be taken for whole
//	application/octet-stream   what an action whose output is []byte sends, as it is; broken off after an error
//	application/json           the stream's only value; 204 where it sends none, an error where it sends two
//
// Without any of these it is octet-stream for an action whose output is []byte, else x-ndjson. An error before the
// first value is a plain answer with its status and the problem document, as long as nothing was sent: the head of an
// SSE or NDJSON answer waits for the first value, but no longer than [Limits.Head], unless the request is an upload. In silence an SSE answer has a comment
// line and an NDJSON answer a blank line each [Limits.Heartbeat], which readers of both have to skip: proxies
// then keep the connection, and a caller that vanished is noticed.
//
// The ids of SSE count from 1, or from the number behind Last-Event-ID, which the handler finds in the metadata
// "last-event-id".
//
// # WebSocket
//
// GET on the same address over HTTP/1.1 with the subprotocol sabir.v1, text messages only:
//
//	{"value":…}          a value, either way
//	{"end":true}         no more values from this side
//	{"error":{…}}        from the node: the problem document; a close follows
//
// The node closes with 1000 after its end, 1011 after an error of the action, 1013 where that is retryable, 1001 when it
// stops, 4401 (with the error's name as the reason) when the caller's credentials have ended, 1002 where the protocol was broken, 1003 for binary messages, 1007 for text that is no UTF-8 or no such
// message, 1008 for a value after the end, 1009 for one that is too large. Each [Limits.Heartbeat] of silence it sends
// a ping; a caller that sends nothing for twice that and [Limits.Write], not even a pong, is cut off.
//
// # Slow readers, and callers that go
//
// Between handler and caller are the stream's window of [admission.StreamWindow] values or 256 KiB each way, one value and
// 64 KiB; a handler that sends more waits. It counts for NodeBuffers of [sabir.Limits]. A caller that takes nothing for [Limits.Write] is cut off. When a caller goes, the handler's context ends
// at once as long as the node reads from it: with HTTP/2, or when the request is there whole, or while the handler takes
// what comes. While a handler lets a full window of inputs lie, the server of package http1 notices within a second, by looking at
// the connection; under another server it shows when the node reads on, or in the next heartbeat of an answer. While inputs wait
// and no answer has begun, up to five interim answers (102 Processing) go out over HTTP/1.1, the first after twice
// [Limits.Heartbeat] at the latest: they find callers that have gone and left what they sent with their system. Clients must
// pass over them (RFC 9110, section 15.2); those known not to, Python's requests and urllib, get none. Closing only the sending
// half of a TCP connection counts as going.
//
// # Both ways at once
//
// Answers begin while the body still comes, over HTTP/1.1 too. An HTTP/1.1 connection whose request was not read to its end
// closes after the answer. Programs can do that; of browsers, fetch takes a stream as a body in some and over HTTP/2 only,
// and gives none of the answer before the body has ended (duplex: "half"): a page that wants both ways uses WebSocket. A page
// reads SSE with EventSource (GET without headers of its own; it opens the stream again after its end, unless it is closed at
// "event: end") or with fetch.
package httpstream
