package dubbo

import "testing"

// FuzzTripleQuery reads texts as arguments in the query of a URL.
func FuzzTripleQuery(f *testing.F) {
	for _, query := range []string{"", "text=a&number=7", "numbers=1&numbers=2", "%zz", "text=%00", "any=%7B%7D&flags=true", "bytes=AA==", "text=a\n{\"NUMBER\":1}", "\n{\"of\":{},\"Of\":{}}"} {
		f.Add(query)
	}
	f.Fuzz(func(_ *testing.T, query string) {
		var in struct {
			Text    string
			Number  *int32 `json:"number"`
			Numbers []int64
			Flags   [][]bool
			Bytes   []byte
			Any     any
			Of      map[string]int
		}
		var list []int
		var one string
		for _, v := range []any{&in, &list, &one} {
			_ = queryArguments{}.Decode([]byte(query), v)
		}
	})
}
