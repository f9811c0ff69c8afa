// Package coordinator is Apache Kafka's group coordinator as a machine: no IO, no clock, no goroutine, no randomness of
// its own. Requests, outcomes of appends, leadership and the passing of time go in through doors; appends to do, replies
// to send, events that happened and the next deadline come out of Take.
package coordinator
