package moleculer

import "github.com/sabir-go/sabir/lab/bench"

func validatorTables() []bench.Table {
	none := job{group: "no validator", work: "validator none"}
	passes := job{group: "passes", work: "validator passes"}
	fails := job{group: "fails", work: "validator fails"}
	return []bench.Table{{Name: "validator", Title: "Call with param validator",
		About: "One operation is a call of an action in the same process, one after another by one caller, awaited where there is a promise: with a name " +
			"of 1 to 64 characters and an age of 0 to 150, answered with the age after it, which is checked. Where it fails the age is 200, and " +
			"the error must be the contender's of validation and name the age and nothing else.",
		Columns: localColumns("calls"), Duration: localDuration, Quick: localQuick,
		Rows: []bench.Row{
			none.moleculer("1 192 808/s, 838 ns"), none.sabir(""), none.limit(plainCall),
			passes.moleculer("1 138 172/s, 878 ns"), passes.sabir("tags of the input's fields"), passes.limit("Fields compared by hand"),
			fails.moleculer("4 829/s, 207 µs"), fails.sabir("tags of the input's fields"), fails.limit("Fields compared by hand"),
		}}}
}
