"""aiokafka: Kafka for asyncio."""

import asyncio
import threading
import time

import aiokafka
import aiokafka.helpers
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

import lines

loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()


def servers(q):
    """Where the brokers are and, where they are locked, what they want."""
    config, lock = {"bootstrap_servers": q["Bootstrap"]}, lines.security()
    if lock:
        context = aiokafka.helpers.create_ssl_context(cafile=lock["TLS_CA"], certfile=lock["TLS_CERT"] or None, keyfile=lock["TLS_KEY"] or None)
        config.update(security_protocol="SASL_SSL" if lock["SASL_MECHANISM"] else "SSL", ssl_context=context)
    if lock and lock["SASL_MECHANISM"]:
        config.update(sasl_mechanism=lock["SASL_MECHANISM"], sasl_plain_username=lock["SASL_USER"], sasl_plain_password=lock["SASL_PASSWORD"])
    return config


class Steps(ConsumerRebalanceListener):
    def __getattr__(self, name):
        """Every step runs in the loop's thread."""
        if name == "knock":
            return lambda q: lines.said(lambda: self.groups(q))
        step = getattr(Async, name)
        return lambda q: asyncio.run_coroutine_threadsafe(step(self, q), loop).result()

    def on_partitions_assigned(self, assigned):
        self.assigns += 1

    def on_partitions_revoked(self, revoked):
        self.revoked += len(revoked)


class Async:
    async def hello(self, q):
        return {"Version": aiokafka.__version__, "Compressions": ["none", "gzip", "snappy", "lz4", "zstd"]}

    async def create(self, q):
        await (await admin(self, q)).create_topics([NewTopic(q["Topic"], q["N"], 1)])

    async def produce(self, q):
        compression = None if q["Compression"] == "none" else q["Compression"]
        p = AIOKafkaProducer(**servers(q), compression_type=compression)
        await p.start()
        await send(p, q, q["Compression"])
        await p.stop()

    async def read(self, q):
        config = {"isolation_level": q["Isolation"]} if q["Isolation"] else {}
        c = AIOKafkaConsumer(**servers(q), **config)
        await c.start()
        c.assign([TopicPartition(q["Topic"], p) for p in range(q["Partitions"])])
        await c.seek_to_beginning()
        values, end = [], time.time() + 20
        while len(values) < q["N"] and time.time() < end:
            for records in (await c.getmany(timeout_ms=500)).values():
                values += [lines.name(r.value) for r in records]
        await c.stop()
        return {"Values": values}

    async def join(self, q):
        if q["Assignor"]:
            raise lines.Missing("cooperative-sticky; its sticky assignor is eager")
        config = {"group_instance_id": q["Instance"]} if q["Instance"] else {}
        self.assigns, self.revoked, self.seen, self.failure = 0, 0, 0, None
        self.consumer = AIOKafkaConsumer(
            **servers(q),
            group_id=q["Group"],
            session_timeout_ms=q["SessionMs"],
            enable_auto_commit=False,
            **config,
        )
        self.consumer.subscribe([q["Topic"]], listener=self)
        # start waits for the group; the runner asks in the meantime.
        self.task = loop.create_task(consume(self))

    async def assignment(self, q):
        if self.failure:
            raise self.failure
        owned = [t.partition for t in self.consumer.assignment()]
        return {"Partitions": owned, "Assigns": self.assigns, "Revoked": self.revoked, "Seen": self.seen}

    async def commit(self, q):
        await self.consumer.commit({t: q["Offset"] for t in self.consumer.assignment()})

    async def leave(self, q):
        self.task.cancel()
        await self.consumer.stop()

    async def committed(self, q):
        partitions = [TopicPartition(q["Topic"], p) for p in range(q["Partitions"])]
        got = await (await admin(self, q)).list_consumer_group_offsets(q["Group"], partitions=partitions)
        return {"Offsets": {str(t.partition): o.offset for t, o in got.items() if o.offset >= 0}}

    async def describe(self, q):
        [answer] = await (await admin(self, q)).describe_consumer_groups([q["Group"]])
        _, _, state, _, _, members, *_ = answer.groups[0]
        return {"State": state, "Members": len(members)}

    async def groups(self, q):
        return {"Groups": [g[0] for g in await (await admin(self, q)).list_consumer_groups()]}

    async def reset(self, q):
        """There is no administration of offsets: a consumer that is no member commits."""
        c = AIOKafkaConsumer(**servers(q), group_id=q["Group"], enable_auto_commit=False)
        await c.start()
        partitions = [TopicPartition(q["Topic"], p) for p in range(q["Partitions"])]
        c.assign(partitions)
        await c.commit({t: q["Offset"] for t in partitions})
        await c.stop()

    async def delete_group(self, q):
        raise lines.Missing("deleting groups")

    async def delete_topic(self, q):
        await (await admin(self, q)).delete_topics([q["Topic"]])

    async def transaction(self, q):
        p = AIOKafkaProducer(**servers(q), transactional_id=q["Topic"] + "-id")
        await p.start()
        async with p.transaction():
            await send(p, q, "committed")
            await p.send_offsets_to_transaction({TopicPartition(q["Topic"], 0): q["Offset"]}, q["Group"])
        await p.begin_transaction()
        await send(p, q, "aborted")
        await p.abort_transaction()
        await p.stop()


async def admin(steps, q):
    if "_admin" not in steps.__dict__:
        steps._admin = AIOKafkaAdminClient(**servers(q))
        await steps._admin.start()
    return steps._admin


async def send(p, q, kind):
    sent = [
        await p.send(q["Topic"], lines.value(kind, i), f"k{i}".encode(), partition=i % q["Partitions"])
        for i in range(q["N"])
    ]
    await asyncio.gather(*sent)


async def consume(steps):
    try:
        await steps.consumer.start()
        while True:
            steps.seen += sum(len(records) for records in (await steps.consumer.getmany(timeout_ms=100)).values())
    except Exception as e:
        steps.failure = e


lines.serve(Steps())
