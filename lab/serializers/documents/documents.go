// Package documents has the documents in the packets of the table of serializers. They have the shapes and the exact lengths of
// those of Moleculer's benchmark; their words are made here.
package documents

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The shapes of the documents.
type (
	Number struct {
		ID int64 `json:"id"`
	}

	Request struct {
		ID        string `json:"id"`
		RequestID string `json:"requestID"`
		Time      int64  `json:"time"`
		Action    Action `json:"action"`
	}

	Action struct {
		Name string `json:"name"`
	}

	Page struct {
		Status int64  `json:"status"`
		Data   []Post `json:"data"`
	}

	Post struct {
		Code      string   `json:"code"`
		Title     string   `json:"title"`
		Content   string   `json:"content"`
		Author    Author   `json:"author"`
		Votes     int64    `json:"votes"`
		Voters    []string `json:"voters"`
		Views     int64    `json:"views"`
		CreatedAt string   `json:"createdAt"`
	}

	Author struct {
		Code     string   `json:"code"`
		Username string   `json:"username"`
		FullName string   `json:"fullName"`
		Avatar   string   `json:"avatar"`
		Roles    []string `json:"roles"`
	}
)

// Sizes are the documents' names, by how long about they are as JSON.
var Sizes = []string{"10 B", "150 B", "1 kB", "10 kB", "50 kB", "100 kB", "1 MB"}

// Of is the document of a size: a Number, a Request or a Page.
func Of(size string) (any, error) {
	switch size {
	case "10 B":
		return Number{ID: 100}, nil
	case "150 B":
		return requestDocument(), nil
	case "1 kB":
		return pageDocument(1052), nil
	case "10 kB":
		return pageDocument(10449), nil
	case "50 kB":
		return pageDocument(50522), nil
	case "100 kB":
		return pageDocument(101021), nil
	case "1 MB":
		return pageDocument(1010003), nil
	}
	return nil, fmt.Errorf("there is no document of %q", size)
}

// JSON is the document of a size as JSON.
func JSON(size string) ([]byte, error) {
	document, err := Of(size)
	if err != nil {
		return nil, err
	}
	return json.Marshal(document)
}

func requestDocument() Request {
	id := "0b7d5f1e-93c2-4a68-8f10-6e2d4c9a7b35"
	return Request{ID: id, RequestID: id + "001", Time: 1700000000123, Action: Action{Name: "posts.get"}}
}

// pageDocument has as many posts as fit; the last one's content is as long as it takes.
func pageDocument(bytes int) Page {
	p := Page{Status: 200, Data: []Post{postNumber(0)}}
	for length := lengthOf(p); ; {
		next := postNumber(len(p.Data))
		length += lengthOf(next) + len(",")
		if length > bytes {
			break
		}
		p.Data = append(p.Data, next)
	}
	last := &p.Data[len(p.Data)-1]
	missing := bytes - lengthOf(p)
	last.Content += (" " + strings.Repeat(sentence(len(p.Data))+" ", missing/40+1))[:missing]
	return p
}

func lengthOf(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a document does not become JSON: %v", err))
	}
	return len(data)
}

// postNumber is a post of about 630 bytes: some sentences, and one line end in two posts out of three.
func postNumber(n int) Post {
	name := words[n%len(words)] + words[(n*5+2)%len(words)]
	content := sentence(n)
	for i := range 4 + n%3 {
		end := " "
		if i == 3 && n%3 > 0 {
			end = "\r\n"
		}
		content += end + sentence(n*7+i*3+1)
	}
	return Post{
		Code:    code(n),
		Title:   sentence(n + 3),
		Content: content,
		Author: Author{
			Code: code(n % 10), Username: fmt.Sprint(name, n%90), FullName: strings.ToUpper(name[:1]) + name[1:],
			Avatar: fmt.Sprintf("https://images.example.org/avatar/%032x?s=64", uint64(n+1)*0x9e3779b97f4a7c15), Roles: []string{"user"},
		},
		Votes: int64(n % 4), Voters: []string{}, Views: int64(n * 11 % 300),
		CreatedAt: fmt.Sprintf("2025-%02d-%02dT12:33:%02d.%03dZ", n%12+1, n%28+1, n%60, n*37%1000),
	}
}

var words = strings.Fields("harbour lantern velvet meadow copper quiet winter gather signal orchard paper river bright hollow stone amber ladder morning thread silver")

// sentence has six to ten words.
func sentence(n int) string {
	var text strings.Builder
	for i := range 6 + n%5 {
		word := words[(n*3+i*i+i)%len(words)]
		if i == 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		} else {
			text.WriteByte(' ')
		}
		text.WriteString(word)
	}
	return text.String() + "."
}

// code is ten letters and digits.
func code(n int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	x := uint64(n+1) * 0xbf58476d1ce4e5b9
	text := make([]byte, 10)
	for i := range text {
		text[i] = alphabet[x%uint64(len(alphabet))]
		x = x/uint64(len(alphabet)) ^ x<<7
	}
	return string(text)
}
