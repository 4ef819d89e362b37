// Package memory bounds the bytes of the values that wait in a node for something slow: a reader that does not read, a peer that does
// not take its answers, a handler that is behind. A bound of their number would not do, since it grows with their size.
//
// A [Budget] counts the bytes of a node, and an [Account] of it those of one connection. The places where values wait share them
// in two ways:
//
//   - A queue asks with [Account.Take] before it keeps a value, and refuses the value where there is no space.
//   - A stream cannot refuse a value that its handler has made already. It notes with a [Window] what waits, and which of it was
//     taken. Streams may hold a part of the budget, see [StreamShare]. When they hold more, no further ones are opened, and those whose
//     receivers have taken nothing for a while are ended, the longest first. So a reader that stands still costs other readers
//     nothing, and one that is only slow is left alone.
//
// Values of less than [Small] bytes are not counted, and a window reports to its account in steps, so streams of small values touch
// nothing that they share with others.
package memory
