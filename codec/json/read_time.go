package json

import "time"

// readTime reads a time in RFC 3339.
func readTime(raw []byte) (time.Time, bool) {
	if t, ok := readUTC(raw); ok {
		return t, true
	}
	return readAnyTime(raw)
}

// readAnyTime is readTime for all forms, and slower.
func readAnyTime(raw []byte) (t time.Time, ok bool) {
	return t, strictTime(raw) && t.UnmarshalText(raw) == nil
}

// strictTime refuses times that time.Time.UnmarshalText accepts against RFC 3339: an hour of one digit, a comma before the
// fraction, and offsets of a day and more.
func strictTime(raw []byte) bool {
	n := len(raw)
	if n < len("2006-01-02T15:04:05Z") || raw[len("2006-01-02T15")] != ':' || raw[len("2006-01-02T15:04:05")] == ',' {
		return false
	}
	return raw[n-1] == 'Z' || string(raw[n-5:n-3]) <= "23" && string(raw[n-2:]) <= "59"
}

// readUTC reads the form in which most times come: in UTC, with up to nine digits of a fraction. false is for all others, right
// or wrong.
func readUTC(raw []byte) (t time.Time, ok bool) {
	const short, long = len("2006-01-02T15:04:05Z"), len("2006-01-02T15:04:05.999999999Z")
	n := len(raw) - 1
	if n < short-1 || n >= long || raw[n] != 'Z' || raw[4] != '-' || raw[7] != '-' || raw[10] != 'T' || raw[13] != ':' || raw[16] != ':' {
		return t, false
	}
	century, ok1 := twoDigits(raw[0], raw[1])
	year, ok2 := twoDigits(raw[2], raw[3])
	month, ok3 := twoDigits(raw[5], raw[6])
	day, ok4 := twoDigits(raw[8], raw[9])
	hour, ok5 := twoDigits(raw[11], raw[12])
	minute, ok6 := twoDigits(raw[14], raw[15])
	second, ok7 := twoDigits(raw[17], raw[18])
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !ok7 {
		return t, false
	}
	year += 100 * century
	if month < 1 || month > 12 || day < 1 || day > monthDays[month] && !(month == 2 && day == 29 && leap(year)) ||
		hour > 23 || minute > 59 || second > 59 {
		return t, false
	}
	var nanos int64
	if n > short-1 {
		if raw[19] != '.' || n == short {
			return t, false
		}
		for _, c := range raw[20:n] {
			if c -= '0'; c > 9 {
				return t, false
			}
			nanos = nanos*10 + int64(c)
		}
		nanos *= tenths[n-20]
	}
	return time.Unix(((daysTo(year, month, day)*24+hour)*60+minute)*60+second, nanos).UTC(), true
}

func twoDigits(a, b byte) (n int64, ok bool) {
	a, b = a-'0', b-'0'
	return int64(a)*10 + int64(b), a <= 9 && b <= 9
}

// monthDays is the number of days that the months have, the first of which is 1, in years without a leap day.
var monthDays = [...]int64{1: 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// tenths is the number of nanoseconds that the last of so many digits stands for.
var tenths = [...]int64{1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 10, 1}

func leap(year int64) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// daysTo is the days from 1 January 1970 to a day of the Gregorian calendar, from the year 0 on. Years are counted from March, so
// that a leap day is a year's last.
func daysTo(year, month, day int64) int64 {
	const daysOf400Years, daysToEpoch = 146097, 719468 // the latter from 1 March of the year 0
	month -= 3
	if month < 0 {
		month += 12
		year--
	}
	year += 400 // never below zero: divisions round down
	return year*365 + year/4 - year/100 + year/400 + (153*month+2)/5 + day - 1 - daysOf400Years - daysToEpoch
}
