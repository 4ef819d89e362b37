package main

import "fmt"

// show writes a list: as JSON, never null, or as a table with a line where it is empty.
func show[T any](c *cli, list []T, header []string, row func(T) []string, none string) {
	if c.json {
		if list == nil {
			list = []T{}
		}
		writeJSON(c.stdout, list)
		return
	}
	if len(list) == 0 {
		fmt.Fprintln(c.stdout, none)
		return
	}
	var rows [][]string
	for _, one := range list {
		rows = append(rows, row(one))
	}
	c.writeTable(header, rows)
}
