package json

import "time"

// The seconds from 1970 in which the years of RFC 3339 lie, from 0000 to 9999.
const (
	firstSecond = -62_167_219_200
	lastSecond  = 253_402_300_799
)

// appendTime writes t in RFC 3339, with as many digits of a fraction as it needs. It returns false for what that cannot express.
func appendTime(dst []byte, t *time.Time) ([]byte, bool) {
	if seconds := t.Unix(); t.Location() == time.UTC && seconds >= firstSecond && seconds <= lastSecond {
		return appendUTC(dst, seconds, t.Nanosecond()), true
	}
	out, err := t.AppendText(dst)
	return out, err == nil
}

// appendUTC is appendTime for UTC.
func appendUTC(dst []byte, seconds int64, nanos int) []byte {
	since := uint64(seconds - firstSecond)
	day, second := since/86400, uint32(since%86400)
	year, month, dayOfMonth := civil(uint32(day))
	text := [len("2006-01-02T15:04:05.000000000Z")]byte{4: '-', 7: '-', 10: 'T', 13: ':', 16: ':', 19: '.'}
	put2(text[0:2], year/100)
	put2(text[2:4], year%100)
	put2(text[5:7], month)
	put2(text[8:10], dayOfMonth)
	put2(text[11:13], second/3600)
	put2(text[14:16], second/60%60)
	put2(text[17:19], second%60)
	end := len("2006-01-02T15:04:05")
	if n := uint32(nanos); n != 0 {
		digits := len("000000000")
		switch { // clocks mostly count in these
		case n%1_000_000 == 0:
			digits, n = 3, n/1_000_000
		case n%1_000 == 0:
			digits, n = 6, n/1_000
		}
		for ; n%10 == 0; n /= 10 {
			digits--
		}
		for i := end + digits; i > end; i-- {
			text[i] = '0' + byte(n%10)
			n /= 10
		}
		end += 1 + digits
	}
	text[end] = 'Z'
	return append(dst, text[:end+1]...)
}

// put2 writes a number of two digits.
func put2(dst []byte, n uint32) { dst[0], dst[1] = '0'+byte(n/10), '0'+byte(n%10) }

// civil is the day of the Gregorian calendar that comes so many days after 1 January of the year 0. It is daysTo the other way
// round.
func civil(days uint32) (year, month, day uint32) {
	const daysOf400Years, daysOf100Years, daysOf4Years = 146097, 36524, 1461
	days += daysOf400Years - 60 // from 1 March of the year -400 on
	cycle := days / daysOf400Years
	days %= daysOf400Years
	yearOfCycle := (days - days/(daysOf4Years-1) + days/daysOf100Years - days/(daysOf400Years-1)) / 365
	days -= 365*yearOfCycle + yearOfCycle/4 - yearOfCycle/100
	month = (5*days + 2) / 153
	day = days - (153*month+2)/5 + 1
	year = cycle*400 + yearOfCycle - 400
	if month += 3; month > 12 {
		return year + 1, month - 12, day
	}
	return year, month, day
}
