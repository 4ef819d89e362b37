package table

import (
	"strconv"
	"time"
)

// Count writes a number without decimals and with a space before each three digits: 12 345.
func Count(n float64) string {
	text := strconv.FormatFloat(n, 'f', 0, 64)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return sign + text
}

// Digits writes a number with about three digits: 0.123, 1.23, 12.3, 123.
func Digits(n float64) string {
	decimals := 0
	switch size := max(n, -n); {
	case size == 0:
	case size < 1:
		decimals = 3
	case size < 10:
		decimals = 2
	case size < 100:
		decimals = 1
	}
	return strconv.FormatFloat(n, 'f', decimals, 64)
}

// Micros writes a duration given in nanoseconds as microseconds.
func Micros(nanoseconds float64) string {
	return Digits(nanoseconds / float64(time.Microsecond))
}
