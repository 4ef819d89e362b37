package httpstream_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

// noise is bytes that occur nowhere else.
func noise(size int) []byte {
	b := make([]byte, size)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(b)
	return b
}

func wantFile(t *testing.T, answer *http.Response, content []byte, name, kind string) {
	t.Helper()
	text := readAll(t, answer)
	var got file
	if err := json.Unmarshal([]byte(text), &got); err != nil || answer.StatusCode != 200 {
		t.Fatalf("%s: %s", answer.Status, text)
	}
	sum := sha256.Sum256(content)
	if want := (file{len(content), hex.EncodeToString(sum[:]), name, kind}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestUpload(t *testing.T) {
	for _, settings := range [][]setting{nil, {http2}} {
		s := serve(t, patient, settings...)
		for _, size := range []int{1, 4 << 10, 32 << 10, 1<<20 + 7} {
			content := noise(size)
			wantFile(t, s.ask(t, "POST", "/t.upload", string(content), "Content-Type", bytesBody, "Accept", jsonBody), content, "", bytesBody)
			unknown := io.MultiReader(bytes.NewReader(content)) // a length that is not announced
			wantFile(t, s.askWith(t, "PUT", "/t.upload", unknown, "Content-Type", bytesBody), content, "", bytesBody)
		}
	}
}

func TestAnUploadHasTheNameThatItsHeaderSays(t *testing.T) {
	s := serve(t, patient)
	answer := s.ask(t, "POST", "/t.upload", "x", "Content-Type", bytesBody, "Content-Disposition", `attachment; filename="../../etc/pass wd"`)
	wantFile(t, answer, []byte("x"), "pass wd", bytesBody)
}

func TestAHandlerMayKeepTheChunksOfAnUpload(t *testing.T) {
	s := serve(t, patient)
	content := noise(1 << 20)
	wantFile(t, s.ask(t, "POST", "/t.keep", string(content), "Content-Type", bytesBody), content, "", "")
}

func TestAHandlerWithReusedBuffersGetsEachChunkWhole(t *testing.T) {
	s := serve(t, patient)
	content := noise(8 << 20)
	wantFile(t, s.ask(t, "POST", "/t.borrow", string(content), "Content-Type", bytesBody), content, "", "")
}

// form is the format of a response.
func form(t *testing.T, parts ...string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(parts); i += 3 {
		var part io.Writer
		var err error
		if parts[i+1] == "" {
			part, err = w.CreateFormField(parts[i])
		} else {
			part, err = w.CreateFormFile(parts[i], parts[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(part, parts[i+2])
	}
	w.Close()
	return b.String(), w.FormDataContentType()
}

func TestUploadOfAForm(t *testing.T) {
	s := serve(t, patient)
	for _, size := range []int{0, 1, 1 << 20} {
		content := noise(size)
		body, kind := form(t, "file", `C:\Users\me\né.txt`, string(content))
		wantFile(t, s.ask(t, "POST", "/t.upload", body, "Content-Type", kind), content, "né.txt", bytesBody)
	}
}

func TestAFormThatIsNotOneFileIsRefused(t *testing.T) {
	s := serve(t, patient)
	for name, parts := range map[string][]string{
		"no part":              {},
		"a field":              {"caption", "", "hi"},
		"a field and a file":   {"caption", "", "hi", "file", "a.txt", "x"},
		"a file and a field":   {"file", "a.txt", "x", "caption", "", "hi"},
		"two files":            {"file", "a.txt", "x", "file", "b.txt", "x"},
		"a very long field":    {strings.Repeat("x", 200<<10), "a.txt", "x"},
		"a large file and one": {"file", "a.txt", strings.Repeat("x", 1<<20), "file", "b.txt", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			body, kind := form(t, parts...)
			answer := s.ask(t, "POST", "/t.upload", body, "Content-Type", kind)
			if answer.StatusCode != 400 && answer.StatusCode != 413 {
				t.Error(answer.Status, readAll(t, answer))
			}
		})
	}
	for name, body := range map[string]string{
		"cut off in the head":     "--b\r\nContent-Dispo",
		"cut off in the file":     "--b\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\nxyz",
		"cut off in the boundary": "--b\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\nxyz\r\n--",
		"no boundary":             "xyz",
		"a broken head":           "--b\r\nnonsense\r\n\r\nxyz\r\n--b--\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			wantProblem(t, s.ask(t, "POST", "/t.upload", body, "Content-Type", "multipart/form-data; boundary=b"), 400, "BadInput")
		})
	}
	wantProblem(t, s.ask(t, "POST", "/t.upload", "x", "Content-Type", "multipart/form-data"), 415, "UnsupportedMediaType")
}

func TestAnUploadThatBreaksOffIsNotTakenForWhole(t *testing.T) {
	s := serve(t, patient)
	for _, head := range []string{"Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"} {
		c := s.dialAndSay(t, "POST /t.upload HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\n%s", head)
		<-s.arrived
		c.Close()
		s.wantEnd(t)
	}
}

func TestAnUploadMayBeSlowButNotStandStill(t *testing.T) {
	s := serve(t, quick)
	c := s.dialAndSay(t, "POST /t.upload HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\nContent-Length: 100\r\n\r\nhalf")
	<-s.arrived
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := wantProblem(t, answer, 400, "BadInput"); !strings.Contains(text, "did not come in time") {
		t.Error(text)
	}
	s.wantEnd(t)
}

func TestAMalformedChunkEndsAnUpload(t *testing.T) {
	s := serve(t, patient)
	c := s.dialAndSay(t, "POST /t.upload HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantProblem(t, answer, 400, "BadInput")
	s.wantEnd(t)
}

// A handler that wants no more of an upload answers at once, and the caller gets that although it is still sending.
func TestAnUploadCanBeRefusedWhileItComes(t *testing.T) {
	for _, settings := range [][]setting{nil, {http2}} {
		s := serve(t, patient, settings...)
		content := string(noise(2 << 20))
		answer := s.ask(t, "POST", "/t.refuse", content, "Content-Type", bytesBody)
		wantProblem(t, answer, 409, "OutOfStock")
		answer = s.ask(t, "POST", "/t.ignore", content, "Content-Type", bytesBody, "Accept", jsonBody)
		if answer.StatusCode != 204 {
			t.Error(answer.Status)
		}
	}
}
