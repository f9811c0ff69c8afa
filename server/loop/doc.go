// Package loop is the goroutine that owns a Drive: every broker's coordinator, the cluster between them and their logs.
// Nothing below it locks, since nothing else touches it.
//
// One turn of the loop: the clock is read once; timers that are due run; everything in the mailbox runs; the drive's
// output is taken and handed on; what became ready by that runs too, round after round, until nothing moves or the
// turn has had its share; connections get their replies in one piece each; the events go to the sink in one slice.
//
// Three bounds keep it fair and small: the mailbox has a size, and who posts to a full one waits (which is how a busy
// server slows its connections down); a turn has a number of rounds, so no chain of requests keeps others out; and
// nothing that the loop calls may block. What is slow, a disk, works beside it and wakes it.
package loop
