"""kafka-python: Kafka in Python alone."""

import threading
import time

import kafka
from kafka import ConsumerRebalanceListener, KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.consumer.group import ConsumerGroupMetadata
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.structs import OffsetAndMetadata

import lines


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
        return {"Version": kafka.__version__, "Compressions": ["none", "gzip", "snappy", "lz4", "zstd"]}

    def admin(self, q):
        if not hasattr(self, "_admin"):
            self._admin = KafkaAdminClient(**servers(q))
        return self._admin

    def knock(self, q):
        return lines.said(lambda: self.admin(q).list_groups())

    def create(self, q):
        self.admin(q).create_topics({q["Topic"]: {"num_partitions": q["N"]}})

    def produce(self, q):
        compression = None if q["Compression"] == "none" else q["Compression"]
        p = KafkaProducer(**servers(q), compression_type=compression)
        self.send(p, q, q["Compression"])
        p.close()

    def send(self, p, q, kind):
        sent = [
            p.send(q["Topic"], lines.value(kind, i), f"k{i}".encode(), partition=i % q["Partitions"])
            for i in range(q["N"])
        ]
        for s in sent:
            s.get(30)

    def read(self, q):
        config = {"isolation_level": q["Isolation"]} if q["Isolation"] else {}
        c = KafkaConsumer(**servers(q), **config)
        c.assign([TopicPartition(q["Topic"], p) for p in range(q["Partitions"])])
        c.seek_to_beginning()
        values, end = [], time.time() + 20
        while len(values) < q["N"] and time.time() < end:
            for records in c.poll(500).values():
                values += [lines.name(r.value) for r in records]
        c.close()
        return {"Values": values}

    def join(self, q):
        config = {"group_instance_id": q["Instance"]} if q["Instance"] else {}
        if q["Assignor"]:
            config["partition_assignment_strategy"] = [CooperativeStickyAssignor]
        self.topic, self.assigns, self.revoked, self.seen = q["Topic"], 0, 0, 0
        self.leaving, self.failure, self.owned, self.task = False, None, [], None
        self.consumer = KafkaConsumer(
            **servers(q),
            group_id=q["Group"],
            session_timeout_ms=q["SessionMs"],
            enable_auto_commit=False,
            **config,
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
        self.task = {TopicPartition(self.topic, p): OffsetAndMetadata(q["Offset"], "", -1) for p in self.owned}
        while self.task and not self.failure:
            time.sleep(0.05)
        self.fail()

    def leave(self, q):
        self.leaving = True
        self.thread.join()
        self.fail()

    def committed(self, q):
        got = self.admin(q).list_group_offsets({q["Group"]: None})[q["Group"]]
        return {"Offsets": {str(t.partition): o.offset for t, o in got.items() if t.topic == q["Topic"] and o.offset >= 0}}

    def describe(self, q):
        d = self.admin(q).describe_groups([q["Group"]])[q["Group"]]
        return {"State": d["group_state"], "Members": len(d["members"])}

    def groups(self, q):
        return {"Groups": [g["group_id"] for g in self.admin(q).list_groups()]}

    def reset(self, q):
        offsets = {TopicPartition(q["Topic"], p): OffsetAndMetadata(q["Offset"], "", -1) for p in range(q["Partitions"])}
        answer = self.admin(q).alter_group_offsets(q["Group"], offsets)
        failed = {t: e for t, e in answer.items() if e is not kafka.errors.NoError}
        if failed:
            raise RuntimeError(str(failed))

    def delete_group(self, q):
        self.admin(q).delete_groups([q["Group"]])

    def delete_topic(self, q):
        self.admin(q).delete_topics([q["Topic"]])

    def transaction(self, q):
        p = KafkaProducer(**servers(q), transactional_id=q["Topic"] + "-id")
        p.init_transactions()
        p.begin_transaction()
        self.send(p, q, "committed")
        offsets = {TopicPartition(q["Topic"], 0): OffsetAndMetadata(q["Offset"], "", -1)}
        p.send_offsets_to_transaction(offsets, ConsumerGroupMetadata(q["Group"], -1, "", None))
        p.commit_transaction()
        p.begin_transaction()
        self.send(p, q, "aborted")
        p.abort_transaction()
        p.close()


lines.serve(Steps())
