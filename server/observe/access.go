package observe

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
)

// DefaultClientID is how the observer names itself to the brokers.
const DefaultClientID = "grouplab-observer"

// Access is where a cluster is and how one shows who one is. Its secrets stay inside: it prints as its addresses.
type Access struct {
	// Seeds are bootstrap.servers.
	Seeds []string
	// ClientID is client.id; "" is DefaultClientID.
	ClientID string
	// Protocol is security.protocol, Mechanism sasl.mechanism where there is one.
	Protocol, Mechanism string
	// PassedOver are settings of a consumer or producer that mean nothing here.
	PassedOver []string

	mechanism sasl.Mechanism
	tls       *tls.Config
	// from names the file, for what is said when the cluster refuses.
	from string
}

// String names the addresses alone.
func (a Access) String() string { return strings.Join(a.Seeds, ",") }

// ParseSeeds reads HOST:PORT,…; flag names who asks in an error.
func ParseSeeds(flag, text string) (seeds []string, err error) {
	for _, one := range strings.Split(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		// Kafka's own form may name a listener before it: SASL_SSL://host:9093.
		if _, behind, found := strings.Cut(one, "://"); found {
			one = behind
		}
		host, port, err := net.SplitHostPort(one)
		n, bad := strconv.Atoi(port)
		if err != nil || bad != nil || host == "" || n < 1 || n > 65535 {
			return nil, fmt.Errorf("%s: %q is no HOST:PORT, as in broker1.example:9092; several are separated by commas", flag, one)
		}
		seeds = append(seeds, one)
	}
	if len(seeds) == 0 {
		return nil, fmt.Errorf("%s: it names no broker; it takes HOST:PORT, several separated by commas", flag)
	}
	return seeds, nil
}

// most bounds a file that a flag names.
const most = 4 << 20

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the file cannot be read: %w", cause(err))
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("it is no file of at most %d MB", most>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the file cannot be read: %w", cause(err))
	}
	return text, nil
}

// cause is an error without the path that the message names already.
func cause(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// ReadAccess reads a .properties file as Kafka's own clients take it. An error names the file, the line and what would be
// right, and never a secret.
func ReadAccess(path string) (Access, error) {
	text, err := readFile(path)
	if err == nil {
		var a Access
		if a, err = parseAccess(text); err == nil {
			a.from = path
			return a, nil
		}
	}
	return Access{}, fmt.Errorf("-attach-config %s: %w", path, err)
}

func parseAccess(text []byte) (Access, error) {
	list, err := parseProperties(text)
	if err != nil {
		return Access{}, err
	}
	p := properties{}
	a := Access{}
	for _, one := range list {
		switch {
		case supported(one.key):
			p[one.key] = one
		case irrelevant(one.key):
			a.PassedOver = append(a.PassedOver, one.key)
		default:
			return Access{}, fmt.Errorf("line %d: %s", one.line, unknownKey(one.key))
		}
	}
	if one, given := p["bootstrap.servers"]; given {
		if a.Seeds, err = ParseSeeds("bootstrap.servers", one.value); err != nil {
			return Access{}, fmt.Errorf("line %d: %w", one.line, err)
		}
	}
	a.ClientID = p.value("client.id")
	a.Protocol = strings.ToUpper(strings.TrimSpace(p.or("security.protocol", "PLAINTEXT")))
	switch a.Protocol {
	case "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL":
	default:
		return Access{}, p.wrong("security.protocol", fmt.Sprintf("%q is none; there are PLAINTEXT, SSL, SASL_PLAINTEXT and SASL_SSL", a.Protocol))
	}
	if strings.HasSuffix(a.Protocol, "SSL") {
		if a.tls, err = p.tls(); err != nil {
			return Access{}, err
		}
	}
	if strings.HasPrefix(a.Protocol, "SASL") {
		if a.Mechanism, a.mechanism, err = p.sasl(); err != nil {
			return Access{}, err
		}
	}
	return a, nil
}

// properties are the supported keys of a file.
type properties map[string]property

func (p properties) value(key string) string { return strings.TrimSpace(p[key].value) }

func (p properties) or(key, otherwise string) string {
	if one, given := p[key]; given {
		return one.value
	}
	return otherwise
}

// wrong is an error about a key, with its line where it has one.
func (p properties) wrong(key, why string) error {
	if one, given := p[key]; given {
		return fmt.Errorf("line %d: %s: %s", one.line, key, why)
	}
	return fmt.Errorf("%s: %s", key, why)
}

// keys are what is supported, in the order in which it is told.
var keys = []string{"bootstrap.servers", "client.id", "security.protocol",
	"sasl.mechanism", "sasl.jaas.config", "sasl.login.callback.handler.class", "sasl.oauthbearer.token.endpoint.url",
	"sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.scope",
	"ssl.truststore.type", "ssl.truststore.location", "ssl.truststore.certificates",
	"ssl.keystore.type", "ssl.keystore.location", "ssl.keystore.certificate.chain", "ssl.keystore.key",
	"ssl.endpoint.identification.algorithm", "ssl.enabled.protocols", "ssl.protocol"}

func supported(key string) bool { return slices.Contains(keys, key) }

// irrelevant tells whether a key is a setting of Kafka's clients that has nothing to do with how one connects. What begins
// with ssl., sasl. or security. never is: to pass such a setting over could connect in another way than was meant.
func irrelevant(key string) bool {
	if strings.HasPrefix(key, "ssl.") || strings.HasPrefix(key, "sasl.") || strings.HasPrefix(key, "security.") {
		return slices.Contains([]string{"ssl.truststore.password", "ssl.keystore.password", "sasl.kerberos.service.name"}, key) ||
			strings.HasPrefix(key, "sasl.login.") && key != "sasl.login.class" || strings.HasPrefix(key, "sasl.kerberos.")
	}
	return slices.Contains(otherKeys, key)
}

var otherKeys = strings.Fields(`acks allow.auto.create.topics auto.commit.interval.ms auto.include.jmx.reporter auto.offset.reset
	batch.size buffer.memory check.crcs client.dns.lookup client.rack compression.gzip.level compression.lz4.level compression.type
	compression.zstd.level config.providers connections.max.idle.ms default.api.timeout.ms delivery.timeout.ms enable.auto.commit
	enable.idempotence enable.metrics.push exclude.internal.topics fetch.max.bytes fetch.max.wait.ms fetch.min.bytes group.id
	group.instance.id group.protocol group.remote.assignor heartbeat.interval.ms interceptor.classes isolation.level
	key.deserializer key.serializer linger.ms max.block.ms max.in.flight.requests.per.connection max.partition.fetch.bytes
	max.poll.interval.ms max.poll.records max.request.size metadata.max.age.ms metadata.max.idle.ms
	metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy metric.reporters metrics.num.samples
	metrics.recording.level metrics.sample.window.ms partition.assignment.strategy partitioner.adaptive.partitioning.enable
	partitioner.availability.timeout.ms partitioner.class partitioner.ignore.keys receive.buffer.bytes reconnect.backoff.max.ms
	reconnect.backoff.ms request.timeout.ms retries retry.backoff.max.ms retry.backoff.ms send.buffer.bytes session.timeout.ms
	socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms transaction.timeout.ms transactional.id
	value.deserializer value.serializer`)

// unknownKey says what is wrong with a key, and what there is.
func unknownKey(key string) string {
	what := fmt.Sprintf("%q is not supported", key)
	switch {
	case key == "ssl.key.password":
		return what + ": take the password off the key: openssl pkey -in KEY -out FILE"
	case key == "ssl.cipher.suites":
		return what + ": TLS 1.2 and 1.3 are spoken with Go's own choice of ciphers"
	case key == "security.providers" || key == "ssl.provider" || strings.HasSuffix(key, ".class"):
		return what + ": it names a Java class, and there is no Java here"
	case strings.HasPrefix(key, "sasl.oauthbearer."):
		return what + ": a token comes from sasl.oauthbearer.token.endpoint.url (https: by client credentials, file: as it is), or is the option token of sasl.jaas.config"
	}
	if near := nearestKey(key); near != "" {
		return what + "; is it " + near + "?"
	}
	return what + "; there are " + strings.Join(keys, ", ")
}

// nearestKey is the supported key that differs in at most two places.
func nearestKey(key string) string {
	best, least := "", 3
	for _, k := range keys {
		if d := distance(key, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is how many characters have to be put in, left out or changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// options are what franz-go is told of a cluster and of who connects. It is a client that only asks.
func (a Access) options() []kgo.Opt {
	id := a.ClientID
	if id == "" {
		id = DefaultClientID
	}
	list := []kgo.Opt{kgo.SeedBrokers(a.Seeds...), kgo.ClientID(id), kgo.SoftwareNameAndVersion("grouplab", "observer"), kgo.DisableClientMetrics()}
	if a.tls != nil {
		list = append(list, kgo.DialTLSConfig(a.tls))
	}
	if a.mechanism != nil {
		list = append(list, kgo.SASL(a.mechanism))
	}
	return list
}
