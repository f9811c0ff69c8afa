import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.AppInfoParser;

/** Apache Kafka's Java clients: producer, consumer, admin. */
public final class JavaClient {
    private static String bootstrap;
    private static Admin admin;
    private static Member member;

    public static void main(String[] args) throws Exception {
        Lines.serve(JavaClient::take);
    }

    private static Map<String, Object> take(Map<String, String> q) throws Exception {
        bootstrap = q.getOrDefault("Bootstrap", bootstrap);
        String topic = q.get("Topic");
        String group = q.get("Group");
        switch (q.get("Do")) {
            case "hello":
                return Map.of("Version", AppInfoParser.getVersion(), "Compressions", List.of("none", "gzip", "snappy", "lz4", "zstd"));
            case "knock":
                try {
                    admin().describeCluster().nodes().get();
                    return Map.of();
                } catch (Exception e) {
                    return Map.of("State", Security.words(e));
                }
            case "create":
                admin().createTopics(List.of(new NewTopic(topic, Optional.of(number(q, "N")), Optional.empty()))).all().get();
                return Map.of();
            case "produce":
                produce(topic, q.get("Compression"), number(q, "N"), number(q, "Partitions"));
                return Map.of();
            case "read":
                return Map.of("Values", read(topic, number(q, "N"), number(q, "Partitions"), q.get("Isolation")));
            case "join":
                member = new Member(q);
                return Map.of();
            case "assignment":
                return member.assignment();
            case "commit":
                member.run(c -> {
                    c.commitSync(offsets(c.assignment(), number(q, "Offset")));
                    return null;
                });
                return Map.of();
            case "leave":
                member.leave();
                return Map.of();
            case "committed": {
                Map<String, Object> offsets = new HashMap<>();
                admin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().forEach((p, o) -> {
                    if (p.topic().equals(topic) && o != null) {
                        offsets.put(String.valueOf(p.partition()), o.offset());
                    }
                });
                return Map.of("Offsets", offsets);
            }
            case "describe": {
                var d = admin().describeConsumerGroups(List.of(group)).all().get().get(group);
                return Map.of("State", d.state().toString(), "Members", d.members().size());
            }
            case "groups":
                return Map.of("Groups", admin().listConsumerGroups().all().get().stream().map(g -> g.groupId()).toList());
            case "reset":
                admin().alterConsumerGroupOffsets(group, offsets(partitions(topic, number(q, "Partitions")), number(q, "Offset"))).all().get();
                return Map.of();
            case "delete-group":
                admin().deleteConsumerGroups(List.of(group)).all().get();
                return Map.of();
            case "delete-topic":
                admin().deleteTopics(List.of(topic)).all().get();
                return Map.of();
            case "transaction":
                transaction(q);
                return Map.of();
            default:
                throw new IllegalArgumentException("no step is called " + q.get("Do"));
        }
    }

    private static int number(Map<String, String> q, String name) {
        return Integer.parseInt(q.get(name));
    }

    private static Admin admin() throws Exception {
        if (admin == null) {
            Map<String, Object> set = new HashMap<>(Security.properties());
            set.put("bootstrap.servers", bootstrap);
            admin = Admin.create(set);
        }
        return admin;
    }

    private static List<TopicPartition> partitions(String topic, int n) {
        List<TopicPartition> all = new ArrayList<>();
        for (int p = 0; p < n; p++) {
            all.add(new TopicPartition(topic, p));
        }
        return all;
    }

    private static Map<TopicPartition, OffsetAndMetadata> offsets(Collection<TopicPartition> partitions, long offset) {
        Map<TopicPartition, OffsetAndMetadata> all = new HashMap<>();
        partitions.forEach(p -> all.put(p, new OffsetAndMetadata(offset)));
        return all;
    }

    private static KafkaProducer<String, String> producer(Map<String, String> set) throws Exception {
        Properties p = new Properties();
        p.putAll(Security.properties());
        p.putAll(set);
        p.put("bootstrap.servers", bootstrap);
        p.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        p.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        return new KafkaProducer<>(p);
    }

    private static KafkaConsumer<String, String> consumer(Map<String, String> set) throws Exception {
        Properties p = new Properties();
        p.putAll(Security.properties());
        p.putAll(set);
        p.put("bootstrap.servers", bootstrap);
        p.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        p.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        return new KafkaConsumer<>(p);
    }

    private static void produce(String topic, String compression, int n, int partitions) throws Exception {
        try (var p = producer(Map.of("compression.type", compression))) {
            for (int i = 0; i < n; i++) {
                var sent = p.send(new ProducerRecord<>(topic, i % partitions, "k" + i, Lines.value(compression, i)));
                if (i == n - 1) {
                    p.flush();
                    sent.get();
                }
            }
        }
    }

    private static List<String> read(String topic, int n, int partitions, String isolation) throws Exception {
        List<String> values = new ArrayList<>();
        try (var c = consumer(isolation == null || isolation.isEmpty() ? Map.of() : Map.of("isolation.level", isolation))) {
            c.assign(partitions(topic, partitions));
            c.seekToBeginning(c.assignment());
            for (long end = System.currentTimeMillis() + 20000; values.size() < n && System.currentTimeMillis() < end; ) {
                for (ConsumerRecord<String, String> r : c.poll(Duration.ofMillis(500))) {
                    values.add(Lines.name(r.value()));
                }
            }
        }
        return values;
    }

    private static void transaction(Map<String, String> q) throws Exception {
        String topic = q.get("Topic");
        int n = number(q, "N");
        int partitions = number(q, "Partitions");
        try (var p = producer(Map.of("transactional.id", topic + "-id"))) {
            p.initTransactions();
            p.beginTransaction();
            for (int i = 0; i < n; i++) {
                p.send(new ProducerRecord<>(topic, i % partitions, "k" + i, Lines.value("committed", i)));
            }
            p.sendOffsetsToTransaction(offsets(partitions(topic, 1), number(q, "Offset")), new ConsumerGroupMetadata(q.get("Group")));
            p.commitTransaction();
            p.beginTransaction();
            for (int i = 0; i < n; i++) {
                p.send(new ProducerRecord<>(topic, i % partitions, "k" + i, Lines.value("aborted", i)));
            }
            p.flush();
            p.abortTransaction();
        }
    }

    /** A consumer in a group, used by its own thread alone. */
    private static final class Member implements ConsumerRebalanceListener {
        interface Task {
            Object run(KafkaConsumer<String, String> c) throws Exception;
        }

        private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
        private final KafkaConsumer<String, String> consumer;
        private final Thread thread;
        private volatile boolean leaving;
        private volatile int assigns;
        private volatile int revoked;
        private volatile int seen;
        private volatile List<Integer> owned = List.of();
        private volatile Throwable failure;

        Member(Map<String, String> q) throws Exception {
            Map<String, String> set = new HashMap<>();
            set.put("group.id", q.get("Group"));
            set.put("session.timeout.ms", q.get("SessionMs"));
            set.put("enable.auto.commit", "false");
            if (!q.getOrDefault("Instance", "").isEmpty()) {
                set.put("group.instance.id", q.get("Instance"));
            }
            if (q.getOrDefault("Assignor", "").equals("cooperative-sticky")) {
                set.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
            }
            consumer = consumer(set);
            consumer.subscribe(List.of(q.get("Topic")), this);
            thread = new Thread(this::poll, "member");
            thread.start();
        }

        private void poll() {
            try {
                while (!leaving) {
                    seen += consumer.poll(Duration.ofMillis(100)).count();
                    owned = consumer.assignment().stream().map(TopicPartition::partition).toList();
                    for (Runnable task; (task = tasks.poll()) != null; ) {
                        task.run();
                    }
                }
                consumer.close();
            } catch (Throwable e) {
                e.printStackTrace();
                failure = e;
            }
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            assigns++;
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            revoked += partitions.size();
        }

        Map<String, Object> assignment() {
            if (failure != null) {
                throw new IllegalStateException("the consumer ended: " + failure);
            }
            return Map.of("Partitions", owned, "Assigns", assigns, "Revoked", revoked, "Seen", seen);
        }

        void run(Task task) throws Exception {
            CompletableFuture<Object> done = new CompletableFuture<>();
            tasks.add(() -> {
                try {
                    done.complete(task.run(consumer));
                } catch (Throwable e) {
                    done.completeExceptionally(e);
                }
            });
            done.get();
        }

        void leave() throws Exception {
            leaving = true;
            thread.join();
            if (failure != null) {
                throw new IllegalStateException(failure);
            }
        }
    }
}
