package replication

import (
	"strings"
	"testing"
)

// What a server that is none, or another version, answers must not count as replicas that there are not.
func FuzzReadStatus(f *testing.F) {
	f.Add("role:master\r\nmaster_replid:a\r\nmaster_replid2:b\r\nslave0:ip=1,port=2,state=online\r\n")
	f.Add("role:slave\r\nmaster_replid:a\r\n")
	f.Add("slave0:state=online,port=0,\nmaster_replid:")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := readStatus(text)
		if err != nil {
			return
		}
		if s.id == "" || s.online > strings.Count(text, "state=online") {
			t.Errorf("%q is read as %+v", text, s)
		}
	})
}
