package app

import (
	"fmt"
	"maps"
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
	// protocol is what the listeners speak, by Kafka's name.
	protocol string
}

// newLive takes the settings of the start; started is the cluster's configuration, with its defaults filled in.
func newLive(start settings, pairs []string, started cluster.Config) liveSettings {
	start.cluster = started
	l := liveSettings{start: start, given: map[string]string{}, told: map[string]string{}}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		l.given[name] = value
	}
	return l
}

// with is the settings of the start and these on top.
func (l *liveSettings) with(told map[string]string) (settings, error) {
	s := l.start
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(told)) {
		pairs = append(pairs, name+"="+told[name])
	}
	err := s.apply(pairs)
	return s, err
}

// source says where a broker setting comes from.
func (l *liveSettings) source(name string) int8 {
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
		value, told := l.told[k.name]
		if onlyTold && !told {
			continue
		}
		if !told {
			value = l.started(k, c)
		}
		row := kafka.Setting{Name: k.name, Value: value, Type: k.kind(), Source: l.source(k.name), ReadOnly: !dynamic[k.name]}
		row.Synonyms = []kafka.Synonym{{Name: k.name, Value: value, Source: row.Source}}
		if told {
			row.Synonyms = append(row.Synonyms, kafka.Synonym{Name: k.name, Value: l.started(k, c), Source: l.before(k.name)})
		}
		list = append(list, row)
	}
	if onlyTold {
		return list
	}
	host, port := c.HostPort(broker)
	for name, value := range map[string]string{"advertised.listeners": fmt.Sprintf("%s://%s:%d", l.protocol, host, port), "node.id": fmt.Sprint(broker), "broker.id": fmt.Sprint(broker)} {
		list = append(list, kafka.Setting{Name: name, Value: value, Type: typeString, Source: kafka.SourceStatic, ReadOnly: true,
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
	value, _, _ := strings.Cut(k.standard, ",")
	return value
}

// Types of settings, by Kafka's numbers.
const (
	typeBoolean int8 = 1
	typeString  int8 = 2
	typeInt     int8 = 3
	typeLong    int8 = 5
	typeDouble  int8 = 6
)

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
