package native

import "time"

// A time is its instant and its offset from UTC: seconds since 1970 (zigzag), nanoseconds below a second, and a zone
// that is 0 for UTC or 1 more than the zigzagged offset in seconds east. The name of a zone and a reading of the
// monotonic clock mean nothing elsewhere and are not written.

func appendTime(dst []byte, t time.Time) []byte {
	dst = appendUvarint(dst, zigzag(t.Unix()))
	dst = appendUvarint(dst, uint64(t.Nanosecond()))
	if t.Location() == time.UTC {
		return append(dst, 0)
	}
	_, offset := t.Zone()
	return appendUvarint(dst, zigzag(int64(offset))+1)
}

// maxOffset bounds the offset from UTC in seconds, so that it fits an int on every machine.
const maxOffset = 1<<31 - 1

func (d *decoder) time() time.Time {
	seconds, nanos, zone := unzigzag(d.uvarint()), d.uvarint(), d.uvarint()
	if nanos >= uint64(time.Second) {
		d.fail("a time with more than 999999999 nanoseconds")
	}
	if zone == 0 {
		return time.Unix(seconds, int64(nanos)).UTC()
	}
	offset := unzigzag(zone - 1)
	if offset > maxOffset || offset < -maxOffset {
		d.fail("a time with an offset of more than 2147483647 seconds")
	}
	if d.fault != nil {
		return time.Time{}
	}
	return time.Unix(seconds, int64(nanos)).In(time.FixedZone("", int(offset)))
}
