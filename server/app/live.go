package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/cluster"
	"grouplab/server/kafka"
)

// dynamic are the settings that Kafka changes while its brokers run (DynamicBrokerConfig.AllDynamicConfigs).
var dynamic = map[string]bool{"log.cleaner.backoff.ms": true, "log.cleaner.delete.retention.ms": true, "log.cleaner.max.compaction.lag.ms": true,
	"log.cleaner.min.cleanable.ratio": true, "log.cleaner.min.compaction.lag.ms": true, "log.retention.bytes": true, "log.retention.ms": true,
	"log.segment.bytes": true, "max.connections": true, "max.connections.per.ip": true, "message.max.bytes": true, "min.insync.replicas": true,
	"transaction.partition.verification.enable": true}

// liveSettings are the brokers' settings while they run: those of the start, and what was told since.
type liveSettings struct {
	start settings
	// given are the values of the command line; told those that were changed since, by name.
	given, told map[string]string
	// brokers is how many there are.
	brokers int32
	// protocol is what the listeners speak, by Kafka's name.
	protocol string
}

// newLive takes the settings of the start; started is the cluster's configuration, with its defaults filled in.
func newLive(start settings, pairs []string, started cluster.Config) liveSettings {
	start.cluster = started
	l := liveSettings{start: start, given: map[string]string{}, told: map[string]string{}, brokers: started.Brokers}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		l.given[name] = value
	}
	return l
}

// with is the settings of the start and these on top.
func (l *liveSettings) with(told map[string]string) (settings, error) {
	s := l.start
	shared := map[string]string{}
	for key, value := range told {
		if name, all := inScope("", key); all {
			shared[name] = value
		}
	}
	if l.brokers == 1 { // what the only broker has for itself, all have
		for key, value := range told {
			if name, own := inScope("1:", key); own {
				shared[name] = value
			}
		}
	}
	err := s.apply(pairs(shared))
	return s, err
}

// source says where a broker setting comes from.
func (l *liveSettings) source(name string) int8 {
	if _, own := l.told["1:"+name]; own && l.brokers == 1 {
		return kafka.SourceBroker
	}
	if _, told := l.told[name]; told {
		return kafka.SourceDynamic
	}
	return l.before(name)
}

// before is where it came from at the start.
func (l *liveSettings) before(name string) int8 {
	if _, given := l.given[name]; given {
		return kafka.SourceStatic
	}
	return kafka.SourceDefault
}

// describe lists the settings of a broker, or only what all were told while they ran.
func (l *liveSettings) describe(c cluster.Config, broker int32, onlyTold bool) (list []kafka.Setting) {
	for _, k := range known {
		row := kafka.Setting{Name: k.name, Type: k.kind(), ReadOnly: !dynamic[k.name]}
		say := func(value string, source int8) {
			row.Synonyms = append(row.Synonyms, kafka.Synonym{Name: k.name, Value: value, Source: source})
		}
		if value, own := l.told[fmt.Sprintf("%d:%s", broker, k.name)]; own && !onlyTold {
			say(value, kafka.SourceBroker)
		}
		if value, told := l.told[k.name]; told {
			say(value, kafka.SourceDynamic)
		} else if onlyTold {
			continue
		}
		say(l.started(k, c), l.before(k.name))
		if l.before(k.name) != kafka.SourceDefault && !slices.Contains(withoutDefault, k.name) {
			say(k.otherwise(), kafka.SourceDefault)
		}
		row.Value, row.Source = row.Synonyms[0].Value, row.Synonyms[0].Source
		list = append(list, row)
	}
	if onlyTold {
		return list
	}
	host, port := c.HostPort(broker)
	for name, value := range map[string]string{"advertised.listeners": fmt.Sprintf("%s://%s:%d", l.protocol, host, port), "node.id": fmt.Sprint(broker), "broker.id": fmt.Sprint(broker)} {
		list = append(list, kafka.Setting{Name: name, Value: value, Type: typeOf(name), Source: kafka.SourceStatic, ReadOnly: true,
			Synonyms: []kafka.Synonym{{Name: name, Value: value, Source: kafka.SourceStatic}}})
	}
	slices.SortFunc(list, func(a, b kafka.Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// started is what a setting was at the start: given on the command line, or by default.
func (l *liveSettings) started(k setting, c cluster.Config) string {
	switch k.name {
	case "default.replication.factor":
		return fmt.Sprint(c.DefaultReplicas)
	case "offsets.topic.replication.factor":
		return fmt.Sprint(c.OffsetsReplicas)
	case "transaction.state.log.replication.factor":
		return fmt.Sprint(c.TransactionReplicas)
	}
	if value, ok := l.given[k.name]; ok {
		return value
	}
	return k.otherwise()
}

// Types of settings, by Kafka's numbers.
const (
	typeBoolean int8 = 1
	typeString  int8 = 2
	typeInt     int8 = 3
	typeLong    int8 = 5
	typeDouble  int8 = 6
)

// typeOf is the type of what each broker has for itself.
func typeOf(name string) int8 {
	if strings.HasSuffix(name, ".id") {
		return typeInt
	}
	return typeString
}

func (k setting) kind() int8 {
	switch {
	case k.min == onOff:
		return typeBoolean
	case k.min == ratios:
		return typeDouble
	case k.max > 1<<31-1:
		return typeLong
	}
	if _, err := strconv.Atoi(k.standard); err != nil && k.min == k.max {
		return typeString
	}
	return typeInt
}
