// kafkajs 1 and 2, with its own plug-in for snappy.
import { createRequire } from 'node:module'
import kafkajs from 'kafkajs'
import snappy from 'kafkajs-snappy'
import { Missing, name, range, security, serve, value, words } from './lines.mjs'

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs
CompressionCodecs[CompressionTypes.Snappy] = snappy
const codecs = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy }
const version = createRequire(import.meta.url)('kafkajs/package.json').version

let kafka, admin, member

// log keeps kafkajs off standard output, which is the runner's.
const log = () => entry => console.error(entry.namespace, entry.log.message, JSON.stringify(entry.log))

const client = q => (kafka ??= new Kafka({ brokers: q.Bootstrap.split(','), logLevel: logLevel.INFO, logCreator: log, ...locked() }))

// locked is what brokers that are locked want.
function locked () {
  const lock = security()
  if (!lock) return {}
  const { mechanism, username, password } = lock
  return { ssl: lock.tls, ...(mechanism ? { sasl: { mechanism: mechanism.toLowerCase(), username, password } } : {}) }
}

async function administer (q) {
  if (!admin) {
    admin = client(q).admin()
    await admin.connect()
  }
  return admin
}

const messages = (q, kind) => range(q.N).map(i => ({ partition: i % q.Partitions, value: value(kind, i) }))
const offsets = q => range(q.Partitions).map(partition => ({ partition, offset: String(q.Offset) }))

// topics names the topic as version 1 does, one at a time, or as 2 does.
const first = version.startsWith('1.')
const topics = q => first ? { topic: q.Topic } : { topics: [q.Topic] }

serve({
  hello: () => ({ Version: version, Compressions: Object.keys(codecs) }),

  knock: async q => {
    try {
      await administer(q)
    } catch (e) {
      return { State: words(e) }
    }
  },

  create: async q => {
    await (await administer(q)).createTopics({ topics: [{ topic: q.Topic, numPartitions: q.N }] })
  },

  produce: async q => {
    const p = client(q).producer()
    await p.connect()
    await p.send({ topic: q.Topic, compression: codecs[q.Compression], messages: messages(q, q.Compression) })
    await p.disconnect()
  },

  // kafkajs reads in groups alone, and with read_committed unless told otherwise.
  read: async q => {
    const c = client(q).consumer({ groupId: `${q.Topic}-read`, readUncommitted: q.Isolation !== 'read_committed' })
    const values = []
    await c.connect()
    await c.subscribe({ ...topics(q), fromBeginning: true })
    await c.run({ autoCommit: false, eachMessage: async ({ message }) => { values.push(name(message.value)) } })
    for (const end = Date.now() + 30000; values.length < q.N && Date.now() < end;) {
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    await c.disconnect()
    return { Values: values }
  },

  join: async q => {
    if (q.Instance) throw new Missing('static members')
    if (q.Assignor) throw new Missing('cooperative-sticky')
    const c = client(q).consumer({ groupId: q.Group, sessionTimeout: q.SessionMs })
    member = { consumer: c, topic: q.Topic, owned: [], assigns: 0, revoked: 0, seen: 0 }
    const m = member
    c.on(c.events.GROUP_JOIN, ({ payload }) => {
      m.owned = payload.memberAssignment[m.topic] ?? []
      m.assigns++
    })
    c.on(c.events.REBALANCING, () => {
      m.revoked += m.owned.length
      m.owned = []
    })
    c.on(c.events.CRASH, ({ payload }) => { if (!payload.restart) m.failure = payload.error })
    await c.connect()
    await c.subscribe(topics(q))
    await c.run({ autoCommit: false, eachMessage: async () => { m.seen++ } })
  },

  assignment: () => {
    if (member.failure) throw member.failure
    return { Partitions: member.owned, Assigns: member.assigns, Revoked: member.revoked, Seen: member.seen }
  },

  commit: async q => {
    await member.consumer.commitOffsets(member.owned.map(partition => ({ topic: member.topic, partition, offset: String(q.Offset) })))
  },

  leave: async () => { await member.consumer.disconnect() },

  committed: async q => {
    const got = await (await administer(q)).fetchOffsets({ groupId: q.Group, ...topics(q) })
    const partitions = first ? got : got[0].partitions
    const known = partitions.filter(p => Number(p.offset) >= 0)
    return { Offsets: Object.fromEntries(known.map(p => [p.partition, Number(p.offset)])) }
  },

  describe: async q => {
    const { groups: [g] } = await (await administer(q)).describeGroups([q.Group])
    return { State: g.state, Members: g.members.length }
  },

  groups: async q => ({ Groups: (await (await administer(q)).listGroups()).groups.map(g => g.groupId) }),

  reset: async q => {
    await (await administer(q)).setOffsets({ groupId: q.Group, topic: q.Topic, partitions: offsets(q) })
  },

  'delete-group': async q => { await (await administer(q)).deleteGroups([q.Group]) },

  'delete-topic': async q => { await (await administer(q)).deleteTopics({ topics: [q.Topic] }) },

  transaction: async q => {
    const p = client(q).producer({ transactionalId: `${q.Topic}-id`, maxInFlightRequests: 1, idempotent: true })
    await p.connect()
    const committed = await p.transaction()
    await committed.send({ topic: q.Topic, messages: messages(q, 'committed') })
    const topics = [{ topic: q.Topic, partitions: [{ partition: 0, offset: String(q.Offset) }] }]
    await committed.sendOffsets({ consumerGroupId: q.Group, topics })
    await committed.commit()
    const aborted = await p.transaction()
    await aborted.send({ topic: q.Topic, messages: messages(q, 'aborted') })
    await aborted.abort()
    await p.disconnect()
  }
})
