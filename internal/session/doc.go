// Package session makes connections of carriers that bring bytes reliably and in order, but know no beginning, no end and
// no back pressure, such as KCP. It is for drivers.
//
// Both sides send frames of four bytes: a kind, and a number of three bytes, the highest first.
//
//	1 open     version in the highest byte, window in the lower two: the dialler's first frame
//	2 accept   the same, from the listener
//	3 refuse   0: nothing accepts here
//	4 data     how many bytes follow, 1 to 32768
//	5 credit   how many units of the window are free again
//	6 end      0: no data follows (half close)
//	7 close    0: no data follows, and none is read any more
//	8 closed   0: the answer to close
//	9 ping     0
//	10 pong    0: the answer to ping
//
// A data frame of n bytes takes 1 + (n+4)/1024 units of the receiver's window, which come back when its reader has taken
// them. A side therefore always reads what arrives, so that its carrier's own window never stays shut, and a frame behind
// unread data is not held up by it.
//
// A side that closes waits until the other has closed too, for five seconds at most, before it gives the carrier up: earlier,
// it would cut off what it wrote last.
package session
