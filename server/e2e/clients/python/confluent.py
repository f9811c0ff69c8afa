"""confluent-kafka: librdkafka under Python."""

import threading
import time

import confluent_kafka
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

import lines


def servers(q):
    """Where the brokers are and, where they are locked, what they want."""
    config, lock = {"bootstrap.servers": q["Bootstrap"]}, lines.security()
    if lock:
        config.update({"security.protocol": "SASL_SSL" if lock["SASL_MECHANISM"] else "SSL", "ssl.ca.location": lock["TLS_CA"]})
    if lock and lock["TLS_CERT"]:
        config.update({"ssl.certificate.location": lock["TLS_CERT"], "ssl.key.location": lock["TLS_KEY"]})
    if lock and lock["SASL_MECHANISM"]:
        config.update({"sasl.mechanism": lock["SASL_MECHANISM"], "sasl.username": lock["SASL_USER"], "sasl.password": lock["SASL_PASSWORD"]})
    return config


class Steps:
    def hello(self, q):
        return {
            "Version": f"{confluent_kafka.__version__} (librdkafka {confluent_kafka.libversion()[0]})",
            "Compressions": ["none", "gzip", "snappy", "lz4", "zstd"],
        }

    def admin(self, q):
        if not hasattr(self, "_admin"):
            self._admin = AdminClient({**servers(q)})
        return self._admin

    def knock(self, q):
        """What is wrong comes by a callback beside the answer, which is that nothing came."""
        words = []
        client = AdminClient({**servers(q), "error_cb": lambda e: words.append(e.str())})
        try:
            client.list_topics(timeout=5)
            return {}
        except confluent_kafka.KafkaException as e:
            client.poll(1)
            return {"State": "; ".join([*words, e.args[0].str()])}

    def create(self, q):
        self.admin(q).create_topics([NewTopic(q["Topic"], q["N"])])[q["Topic"]].result()

    def produce(self, q):
        errors = []
        p = Producer({**servers(q), "compression.type": q["Compression"]})
        for i in range(q["N"]):
            p.produce(q["Topic"], lines.value(q["Compression"], i), f"k{i}", i % q["Partitions"],
                      on_delivery=lambda err, _: err and errors.append(err))
        if p.flush(30) or errors:
            raise RuntimeError(f"not delivered: {errors}")

    def read(self, q):
        config = {**servers(q), "group.id": "unused", "enable.auto.commit": False}
        if q["Isolation"]:
            config["isolation.level"] = q["Isolation"]
        c = Consumer(config)
        c.assign([TopicPartition(q["Topic"], p, 0) for p in range(q["Partitions"])])
        values, end = [], time.time() + 20
        while len(values) < q["N"] and time.time() < end:
            m = c.poll(0.5)
            if m and m.error():
                raise confluent_kafka.KafkaException(m.error())
            if m:
                values.append(lines.name(m.value()))
        c.close()
        return {"Values": values}

    def join(self, q):
        config = {
            **servers(q),
            "group.id": q["Group"],
            "session.timeout.ms": q["SessionMs"],
            "enable.auto.commit": False,
        }
        if q["Instance"]:
            config["group.instance.id"] = q["Instance"]
        if q["Assignor"]:
            config["partition.assignment.strategy"] = q["Assignor"]
        self.seen, self.assigns, self.revoked, self.leaving, self.failure, self.owned, self.task = 0, 0, 0, False, None, [], None
        self.consumer = Consumer(config)
        self.consumer.subscribe([q["Topic"]], on_assign=self.on_assign, on_revoke=self.on_revoke)
        self.thread = threading.Thread(target=self.poll)
        self.thread.start()

    def on_assign(self, _, partitions):
        self.assigns += 1

    def on_revoke(self, _, partitions):
        self.revoked += len(partitions)

    def poll(self):
        """The consumer is used by this thread alone: a call from another one while callbacks run can wait for ever."""
        try:
            while not self.leaving:
                m = self.consumer.poll(0.1)
                if m and m.error() and m.error().fatal():
                    raise confluent_kafka.KafkaException(m.error())
                if m and not m.error():
                    self.seen += 1
                self.owned = self.consumer.assignment()
                if self.task is not None:
                    for t in self.consumer.commit(offsets=self.task, asynchronous=False):
                        if t.error:
                            raise confluent_kafka.KafkaException(t.error)
                    self.task = None
            self.consumer.close()
        except Exception as e:
            self.failure = e

    def fail(self):
        if self.failure:
            raise self.failure

    def assignment(self, q):
        self.fail()
        return {"Partitions": [t.partition for t in self.owned], "Assigns": self.assigns, "Revoked": self.revoked, "Seen": self.seen}

    def commit(self, q):
        self.task = [TopicPartition(t.topic, t.partition, q["Offset"]) for t in self.owned]
        while self.task is not None and not self.failure:
            time.sleep(0.05)
        self.fail()

    def leave(self, q):
        self.leaving = True
        self.thread.join()
        self.fail()

    def committed(self, q):
        wanted = ConsumerGroupTopicPartitions(q["Group"], [TopicPartition(q["Topic"], p) for p in range(q["Partitions"])])
        got = self.admin(q).list_consumer_group_offsets([wanted])[q["Group"]].result()
        return {"Offsets": {str(t.partition): t.offset for t in got.topic_partitions if t.offset >= 0}}

    def describe(self, q):
        d = self.admin(q).describe_consumer_groups([q["Group"]])[q["Group"]].result()
        return {"State": d.state.name.capitalize(), "Members": len(d.members)}

    def groups(self, q):
        found = self.admin(q).list_consumer_groups().result()
        if found.errors:
            raise found.errors[0]
        return {"Groups": [g.group_id for g in found.valid]}

    def reset(self, q):
        offsets = [TopicPartition(q["Topic"], p, q["Offset"]) for p in range(q["Partitions"])]
        wanted = ConsumerGroupTopicPartitions(q["Group"], offsets)
        self.admin(q).alter_consumer_group_offsets([wanted])[q["Group"]].result()

    def delete_group(self, q):
        self.admin(q).delete_consumer_groups([q["Group"]])[q["Group"]].result()

    def delete_topic(self, q):
        self.admin(q).delete_topics([q["Topic"]])[q["Topic"]].result()

    def transaction(self, q):
        p = Producer({**servers(q), "transactional.id": q["Topic"] + "-id"})
        group = Consumer({**servers(q), "group.id": q["Group"]})
        p.init_transactions(30)
        p.begin_transaction()
        self.send(p, q, "committed")
        p.send_offsets_to_transaction([TopicPartition(q["Topic"], 0, q["Offset"])], group.consumer_group_metadata(), 30)
        p.commit_transaction(30)
        p.begin_transaction()
        self.send(p, q, "aborted")
        p.flush(30)
        p.abort_transaction(30)
        group.close()

    def send(self, p, q, kind):
        for i in range(q["N"]):
            p.produce(q["Topic"], lines.value(kind, i), f"k{i}", i % q["Partitions"])


lines.serve(Steps())
