// Package brokerlog turns lines of logs into facts: lines of Apache Kafka's brokers, of its Java consumer, and of the clients whose
// lines people paste into issues (librdkafka, sarama, kafkajs, franz-go, kafka-python, aiokafka).
//
// A line goes through three hands. Its head is read first (head.go): whatever wrote it put a time, a level, a container's
// name in front, or wrapped it in JSON. Then its message is looked up among the known ones (rules*.go), by their words, wherever
// in the line they begin: that is a Saying, a few names and numbers. Last, a teller (tell*.go) folds sayings into events: it
// knows what was said of a group before, so that a line that only says "Stabilized" ends the rebalance that another began.
//
// There are two doors. A Parser takes lines as they are written and answers each with its facts: for a log that is
// tailed. A Log takes all lines of a pasted text, in any order of sources, sorts what they say by time, and knows at the beginning of a
// wait how it ended.
//
// What a line says was observed by the process that wrote it, but not by us: each event is Inferred, and what is not said is
// left zero. Nothing is kept without a bound, whatever the lines hold; the time is linear in their length.
package brokerlog
