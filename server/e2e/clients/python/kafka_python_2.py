"""kafka-python before 3: 1.4.7 and 2.0, which many still run."""

import threading
import time

import kafka
from kafka import ConsumerRebalanceListener, KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.structs import OffsetAndMetadata

import lines

NEW = kafka.__version__ >= "2"


def servers(q):
    """Where the brokers are and, where they are locked, what they want."""
    config, lock = {"bootstrap_servers": q["Bootstrap"].split(",")}, lines.security()
    if lock:
        config.update(security_protocol="SASL_SSL" if lock["SASL_MECHANISM"] else "SSL", ssl_cafile=lock["TLS_CA"])
    if lock and lock["TLS_CERT"]:
        config.update(ssl_certfile=lock["TLS_CERT"], ssl_keyfile=lock["TLS_KEY"])
    if lock and lock["SASL_MECHANISM"]:
        config.update(sasl_mechanism=lock["SASL_MECHANISM"], sasl_plain_username=lock["SASL_USER"], sasl_plain_password=lock["SASL_PASSWORD"])
    return config


class Steps(ConsumerRebalanceListener):
    def hello(self, q):
        return {"Version": kafka.__version__, "Compressions": ["none", "gzip", "snappy", "lz4"] + (["zstd"] if NEW else [])}

    def admin(self, q):
        if not hasattr(self, "_admin"):
            self._admin = KafkaAdminClient(**servers(q))
        return self._admin

    def knock(self, q):
        return lines.said(lambda: self.admin(q).list_consumer_groups())

    def create(self, q):
        # These versions do not let the broker say how often a topic is copied.
        self.admin(q).create_topics([NewTopic(q["Topic"], q["N"], 1)])

    def produce(self, q):
        compression = None if q["Compression"] == "none" else q["Compression"]
        p = KafkaProducer(**servers(q), compression_type=compression)
        sent = [
            p.send(q["Topic"], lines.value(q["Compression"], i), f"k{i}".encode(), partition=i % q["Partitions"])
            for i in range(q["N"])
        ]
        for s in sent:
            s.get(30)
        p.close()

    def read(self, q):
        if q["Isolation"]:
            raise lines.Missing("read_committed")
        c = KafkaConsumer(**servers(q))
        c.assign([TopicPartition(q["Topic"], p) for p in range(q["Partitions"])])
        c.seek_to_beginning()
        values, end = [], time.time() + 20
        while len(values) < q["N"] and time.time() < end:
            for records in c.poll(500).values():
                values += [lines.name(r.value) for r in records]
        c.close()
        return {"Values": values}

    def join(self, q):
        if q["Instance"]:
            raise lines.Missing("static members")
        if q["Assignor"]:
            raise lines.Missing("cooperative-sticky; its sticky assignor is eager" if NEW else "cooperative-sticky")
        self.topic, self.assigns, self.revoked, self.seen = q["Topic"], 0, 0, 0
        self.leaving, self.failure, self.owned, self.task = False, None, [], None
        self.consumer = KafkaConsumer(
            **servers(q),
            group_id=q["Group"],
            session_timeout_ms=q["SessionMs"],
            enable_auto_commit=False,
        )
        self.consumer.subscribe([q["Topic"]], listener=self)
        self.thread = threading.Thread(target=self.poll)
        self.thread.start()

    def on_partitions_assigned(self, assigned):
        self.assigns += 1

    def on_partitions_revoked(self, revoked):
        self.revoked += len(revoked)

    def poll(self):
        """The consumer is used by this thread alone."""
        try:
            while not self.leaving:
                self.seen += sum(len(records) for records in self.consumer.poll(100).values())
                self.owned = [t.partition for t in self.consumer.assignment()]
                if self.task:
                    self.consumer.commit(self.task)
                    self.task = None
            self.consumer.close()
        except Exception as e:
            self.failure = e

    def fail(self):
        if self.failure:
            raise self.failure

    def assignment(self, q):
        self.fail()
        return {"Partitions": self.owned, "Assigns": self.assigns, "Revoked": self.revoked, "Seen": self.seen}

    def commit(self, q):
        self.task = {TopicPartition(self.topic, p): OffsetAndMetadata(q["Offset"], "") for p in self.owned}
        while self.task and not self.failure:
            time.sleep(0.05)
        self.fail()

    def leave(self, q):
        self.leaving = True
        self.thread.join()
        self.fail()

    def committed(self, q):
        partitions = [TopicPartition(q["Topic"], p) for p in range(q["Partitions"])]
        got = self.admin(q).list_consumer_group_offsets(q["Group"], partitions=partitions)
        return {"Offsets": {str(t.partition): o.offset for t, o in got.items() if o.offset >= 0}}

    def describe(self, q):
        d = self.admin(q).describe_consumer_groups([q["Group"]])[0]
        return {"State": d[2], "Members": len(d[5])}  # 1.4 has no names for a group's fields

    def groups(self, q):
        return {"Groups": [group for group, _ in self.admin(q).list_consumer_groups()]}

    def reset(self, q):
        """There is no administration of offsets: a consumer that is no member commits."""
        c = KafkaConsumer(**servers(q), group_id=q["Group"], enable_auto_commit=False)
        partitions = [TopicPartition(q["Topic"], p) for p in range(q["Partitions"])]
        c.assign(partitions)
        c.commit({t: OffsetAndMetadata(q["Offset"], "") for t in partitions})
        c.close()

    def delete_group(self, q):
        if not NEW:
            raise lines.Missing("deleting groups")
        for _, error in self.admin(q).delete_consumer_groups([q["Group"]]):
            if error is not kafka.errors.NoError:
                raise error()

    def delete_topic(self, q):
        self.admin(q).delete_topics([q["Topic"]])

    def transaction(self, q):
        raise lines.Missing("a transactional producer")


lines.serve(Steps())
