//go:build !race

package simulation_test

const usualCount = 300
