package user

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestTheHandWrittenCodecReadsWhatEncodingJSONReads(t *testing.T) {
	for name, text := range map[string]string{
		"plain":         `{"id":7,"name":"John","surname":"Smith","lastUpdate":"2023-07-09T20:33:06.123Z"}`,
		"spaces":        " {\n\t\"id\" : 7 , \"name\":\"John\", \"surname\":\"Smith\",\r\"lastUpdate\":\"2023-07-09T20:33:06Z\" } ",
		"other order":   `{"surname":"Smith","lastUpdate":"2023-12-31T23:33:06.5+02:00","name":"John","id":0}`,
		"escapes":       `{"id":7,"name":"J\u00f6\"n\n","surname":"S","lastUpdate":"2023-07-09T20:33:06.123Z"}`,
		"not ASCII":     `{"id":7,"name":"Jöhn","surname":"` + strings.Repeat("ö", 64) + `","lastUpdate":"2023-07-09T20:33:06.123Z"}`,
		"no id":         `{"name":"John","surname":"Smith","lastUpdate":"2023-07-09T20:33:06.123Z"}`,
		"greatest date": `{"id":7,"name":"John","surname":"Smith","lastUpdate":"9999-12-30T20:33:06.123Z"}`,
	} {
		var want, got User
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(name, err)
		}
		var f Fields
		if err := f.Read([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := json.Unmarshal(f.AppendUpdated(nil), &got); err != nil {
			t.Errorf("%s: wrote %s: %v", name, f.AppendUpdated(nil), err)
		}
		if want = want.Updated(); got.ID != want.ID || got.Name != want.Name || got.Surname != want.Surname || !got.LastUpdate.Equal(want.LastUpdate) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestTheHandWrittenCodecRefusesWhatBreaksTheRules(t *testing.T) {
	const date = `"lastUpdate":"2023-07-09T20:33:06.123Z"`
	for name, text := range map[string]string{
		"nothing": ``, "list": `[]`, "cut off": `{"id":7,"name":"John`, "two documents": `{"id":7,"name":"J","surname":"S",` + date + `}{}`,
		"negative id": `{"id":-1,"name":"J","surname":"S",` + date + `}`, "id as text": `{"id":"1","name":"J","surname":"S",` + date + `}`,
		"fraction": `{"id":1.5,"name":"J","surname":"S",` + date + `}`, "leading zero": `{"id":01,"name":"J","surname":"S",` + date + `}`,
		"no name": `{"id":1,"surname":"S",` + date + `}`, "empty name": `{"id":1,"name":"","surname":"S",` + date + `}`,
		"long name": `{"id":1,"name":"` + strings.Repeat("a", 65) + `","surname":"S",` + date + `}`, "no date": `{"id":1,"name":"J","surname":"S"}`,
		"not a date": `{"id":1,"name":"J","surname":"S","lastUpdate":"yesterday"}`, "not UTF-8": "{\"id\":1,\"name\":\"\xff\",\"surname\":\"S\"," + date + `}`,
		"control": "{\"id\":1,\"name\":\"\n\",\"surname\":\"S\"," + date + `}`, "comma": `{"id":1,"name":"J","surname":"S",` + date + `,}`,
		"unknown": `{"id":1,"name":"J","surname":"S","x":"y",` + date + `}`, "empty": `{}`,
	} {
		var f Fields
		if err := f.Read([]byte(text)); err == nil {
			t.Errorf("%s: %s was read as %+v", name, text, f)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"id":7,"name":"John","surname":"Smith","lastUpdate":"2023-07-09T20:33:06.123Z"}`))
	f.Add([]byte(`{"name":"\ud800","id":1`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var fields Fields
		if fields.Read(text) != nil {
			return
		}
		var u User
		if err := json.Unmarshal(text, &u); err != nil {
			t.Fatalf("%q was read, but encoding/json says: %v", text, err)
		}
		if u.ID != fields.ID || u.Name != string(fields.Name) || !u.LastUpdate.Equal(fields.LastUpdate) {
			t.Fatalf("%q: %+v, want %+v", text, fields, u)
		}
	})
}

func TestTheDateMovesOn(t *testing.T) {
	u := User{LastUpdate: time.Date(2023, 12, 31, 1, 2, 3, 4, time.UTC)}
	if got := u.Updated().LastUpdate; got != time.Date(2024, 1, 1, 1, 2, 3, 4, time.UTC) {
		t.Errorf("got %v", got)
	}
}
