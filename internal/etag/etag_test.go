package etag

import "testing"

func TestTagsAreComparedStronglyForIfMatchAndWeaklyForIfNoneMatch(t *testing.T) {
	for _, test := range []struct {
		line, tag    string
		strong, weak bool
	}{
		{`"7"`, `"7"`, true, true},
		{`W/"7"`, `"7"`, false, true},
		{`"7"`, `W/"7"`, false, true},
		{`W/"7"`, `W/"7"`, false, true},
		{`W/"7", "7"`, `"7"`, true, true},
		{` , "6" ,"7"`, `"7"`, true, true},
		{`"a,b", "7"`, `"7"`, true, true},
		{`*`, `"7"`, true, true},
		{`*`, ``, false, false},
		{`"7"`, ``, false, false},
		{`"6"`, `"7"`, false, false},
		{`7`, `"7"`, false, false},
		{`"7`, `"7"`, false, false},
		{`"6" "7"`, `"7"`, false, false},
		{``, `"7"`, false, false},
	} {
		if strong, weak := Matches(test.line, test.tag, true), Matches(test.line, test.tag, false); strong != test.strong || weak != test.weak {
			t.Errorf("%s and %s: strong %v, weak %v", test.line, test.tag, strong, weak)
		}
	}
}
