// Package differ asks a real Apache Kafka and our own brokers the same questions, request by request and version by
// version, and compares the replies field by field. Its tests need Java and Maven, so they are built with the tag
// interop alone: make interop.
package differ
