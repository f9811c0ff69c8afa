// node-rdkafka: librdkafka under Node.js.
import { readFileSync } from 'node:fs'
import rdkafka from 'node-rdkafka'
import { Missing, name, range, security, serve, value, words } from './lines.mjs'

const { AdminClient, HighLevelProducer, KafkaConsumer, Producer } = rdkafka
const version = JSON.parse(readFileSync(new URL('./node_modules/node-rdkafka/package.json', import.meta.url))).version

let admin, member

// called turns a call that ends with a callback into a promise.
const called = call => new Promise((resolve, reject) => call((e, answer) => e ? reject(e) : resolve(answer)))

// servers is where the brokers are and, where they are locked, what they want.
function servers (q) {
  const lock = security()
  const set = { 'bootstrap.servers': q.Bootstrap }
  if (!lock) return set
  Object.assign(set, { 'security.protocol': lock.mechanism ? 'SASL_SSL' : 'SSL', 'ssl.ca.pem': lock.tls.ca[0] })
  if (lock.tls.cert) Object.assign(set, { 'ssl.certificate.pem': lock.tls.cert, 'ssl.key.pem': lock.tls.key })
  const { mechanism, username, password } = lock
  return mechanism ? { ...set, 'sasl.mechanism': mechanism, 'sasl.username': username, 'sasl.password': password } : set
}

const administer = q => (admin ??= AdminClient.create(servers(q)))
const offsets = q => range(q.Partitions).map(partition => ({ topic: q.Topic, partition, offset: q.Offset }))

// connected lends a client that is connected.
async function connected (client, use) {
  await called(done => client.connect({}, done))
  try {
    return await use(client)
  } finally {
    await new Promise(resolve => client.disconnect(resolve))
  }
}

// outside lends a consumer that has the group's id and is no member.
const outside = (q, use) => connected(new KafkaConsumer({ ...servers(q), 'group.id': q.Group, 'enable.auto.commit': false }, {}), use)

const send = (p, q, kind) => Promise.all(range(q.N).map(i =>
  called(done => p.produce(q.Topic, i % q.Partitions, Buffer.from(value(kind, i)), `k${i}`, Date.now(), done))))

serve({
  hello: () => ({
    Version: `${version.replace('v', '')} (librdkafka ${rdkafka.librdkafkaVersion})`,
    Compressions: ['none', 'gzip', 'snappy', 'lz4', ...(rdkafka.features.includes('zstd') ? ['zstd'] : [])]
  }),

  create: async q => {
    await called(done => administer(q).createTopic({ topic: q.Topic, num_partitions: q.N, replication_factor: -1 }, done))
  },

  produce: q => connected(new HighLevelProducer({ ...servers(q), 'compression.type': q.Compression }, {}),
    p => send(p, q, q.Compression).then(() => undefined)),

  read: async q => {
    const isolation = q.Isolation ? { 'isolation.level': q.Isolation } : {}
    const c = new KafkaConsumer({ ...servers(q), 'group.id': 'unused', 'enable.auto.commit': false, ...isolation }, {})
    return connected(c, async () => {
      c.assign(range(q.Partitions).map(partition => ({ topic: q.Topic, partition, offset: 0 })))
      const values = []
      for (const end = Date.now() + 20000; values.length < q.N && Date.now() < end;) {
        values.push(...(await called(done => c.consume(q.N, done))).map(m => name(m.value)))
      }
      return { Values: values }
    })
  },

  join: async q => {
    const c = new KafkaConsumer({
      ...servers(q),
      'group.id': q.Group,
      'session.timeout.ms': q.SessionMs,
      'enable.auto.commit': false,
      rebalance_cb: true,
      ...(q.Instance ? { 'group.instance.id': q.Instance } : {}),
      ...(q.Assignor ? { 'partition.assignment.strategy': q.Assignor } : {})
    }, {})
    member = { consumer: c, assigns: 0, revoked: 0, seen: 0 }
    const m = member
    c.on('rebalance', (e, partitions) => {
      if (e.code === rdkafka.CODES.ERRORS.ERR__ASSIGN_PARTITIONS) m.assigns++
      else m.revoked += partitions.length
    })
    c.on('data', () => { m.seen++ })
    c.on('event.error', e => console.error(e))
    await called(done => c.connect({}, done))
    c.subscribe([q.Topic])
    c.consume()
  },

  assignment: () => {
    const owned = member.consumer.assignments().map(t => t.partition)
    return { Partitions: owned, Assigns: member.assigns, Revoked: member.revoked, Seen: member.seen }
  },

  commit: q => {
    member.consumer.commitSync(member.consumer.assignments().map(({ topic, partition }) => ({ topic, partition, offset: q.Offset })))
  },

  // Its close would wait for ever for partitions that it still has to give up itself; its own streams unsubscribe first, too.
  leave: async () => {
    const c = member.consumer
    c.unsubscribe()
    while (c.assignments().length > 0) await new Promise(resolve => setTimeout(resolve, 20))
    await new Promise(resolve => c.disconnect(resolve))
  },

  committed: q => outside(q, async c => {
    const got = await called(done => c.committed(offsets(q), 20000, done))
    return { Offsets: Object.fromEntries(got.filter(t => t.offset >= 0).map(t => [t.partition, t.offset])) }
  }),

  describe: () => { throw new Missing('administration of groups') },
  groups: () => { throw new Missing('administration of groups') },
  'delete-group': () => { throw new Missing('administration of groups') },

  reset: q => outside(q, async c => { c.commitSync(offsets(q)) }),

  'delete-topic': async q => { await called(done => administer(q).deleteTopic(q.Topic, done)) },

  knock: async q => {
    const said = []
    const p = new Producer(servers(q), {})
    p.on('event.error', e => said.push(words(e)))
    try {
      await called(done => p.connect({ timeout: 5000 }, done))
    } catch (e) {
      return { State: [words(e), ...said].join('; ') }
    }
  },

  transaction: async q => {
    const p = new HighLevelProducer({ ...servers(q), 'transactional.id': `${q.Topic}-id` }, {})
    await outside(q, group => connected(p, async () => {
      await called(done => p.initTransactions(30000, done))
      await called(done => p.beginTransaction(done))
      await send(p, q, 'committed')
      const one = [{ topic: q.Topic, partition: 0, offset: q.Offset }]
      await called(done => p.sendOffsetsToTransaction(one, group, 30000, done))
      await called(done => p.commitTransaction(30000, done))
      await called(done => p.beginTransaction(done))
      await send(p, q, 'aborted')
      await called(done => p.abortTransaction(30000, done))
    }))
  }
})
