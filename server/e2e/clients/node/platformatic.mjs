// @platformatic/kafka.
import { readFileSync } from 'node:fs'
import { Admin, Consumer, MessagesStreamFallbackModes, MessagesStreamModes, Producer } from '@platformatic/kafka'
import { Missing, name, range, security, serve, value, words } from './lines.mjs'

const version = JSON.parse(readFileSync(new URL('./node_modules/@platformatic/kafka/package.json', import.meta.url))).version

let admin, member

const options = q => ({ clientId: 'scenario', bootstrapBrokers: q.Bootstrap.split(','), ...locked() })

// locked is what brokers that are locked want.
function locked () {
  const lock = security()
  if (!lock) return {}
  const { tls, mechanism, username, password } = lock
  return { tls, ...(mechanism ? { sasl: { mechanism, username, password } } : {}) }
}

const administer = q => (admin ??= new Admin(options(q)))
const messages = (q, kind) =>
  range(q.N).map(i => ({ topic: q.Topic, partition: i % q.Partitions, value: Buffer.from(value(kind, i)) }))

serve({
  hello: () => ({ Version: version, Compressions: ['none', 'gzip', 'snappy', 'lz4', 'zstd'] }),

  knock: async q => {
    try {
      await administer(q).listGroups()
    } catch (e) {
      return { State: words(e) }
    }
  },

  create: async q => { await administer(q).createTopics({ topics: [q.Topic], partitions: q.N, replicas: -1 }) },

  produce: async q => {
    const p = new Producer(options(q))
    await p.send({ messages: messages(q, q.Compression), compression: q.Compression })
    await p.close()
  },

  read: async q => {
    const c = new Consumer({ ...options(q), groupId: `${q.Topic}-read` })
    const isolation = q.Isolation === 'read_committed' ? { isolationLevel: 1 } : {}
    const stream = await c.consume({ topics: [q.Topic], mode: MessagesStreamModes.EARLIEST, autocommit: false, ...isolation })
    const values = []
    stream.on('data', message => values.push(name(message.value)))
    for (const end = Date.now() + 30000; values.length < q.N && Date.now() < end;) {
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    await c.close(true)
    return { Values: values }
  },

  join: async q => {
    if (q.Assignor) throw new Missing('cooperative-sticky')
    const c = new Consumer({
      ...options(q), groupId: q.Group, sessionTimeout: q.SessionMs, ...(q.Instance ? { groupInstanceId: q.Instance } : {})
    })
    member = { consumer: c, topic: q.Topic, assigns: 0, revoked: 0, seen: 0 }
    const m = member
    c.on('consumer:group:join', () => { m.assigns++ })
    c.on('consumer:group:rebalance', () => { m.revoked += owned().length })
    // A stream ends at the first error that lasts for a few tries; the member stays, and its user begins another one.
    m.begin = async () => {
      m.stream = await c.consume({
        topics: [q.Topic], mode: MessagesStreamModes.COMMITTED, fallbackMode: MessagesStreamFallbackModes.LATEST, autocommit: false
      })
      m.stream.on('data', () => { m.seen++ })
      m.stream.on('error', e => {
        console.error(e)
        setTimeout(() => m.begin().then(() => { m.failure = undefined }, again => { m.failure = again }), 1000)
      })
    }
    await m.begin()
  },

  assignment: () => {
    if (member.failure) throw member.failure
    return { Partitions: owned(), Assigns: member.assigns, Revoked: member.revoked, Seen: member.seen }
  },

  commit: async q => {
    const offsets = owned().map(partition => ({ topic: member.topic, partition, offset: BigInt(q.Offset), leaderEpoch: -1 }))
    await member.consumer.commit({ offsets })
  },

  leave: async () => { await member.consumer.close(true) },

  committed: async q => {
    const [group] = await administer(q).listConsumerGroupOffsets({
      groups: [{ groupId: q.Group, topics: [{ name: q.Topic, partitionIndexes: range(q.Partitions) }] }]
    })
    const known = (group.topics[0]?.partitions ?? []).filter(p => p.committedOffset >= 0n)
    return { Offsets: Object.fromEntries(known.map(p => [p.partitionIndex, Number(p.committedOffset)])) }
  },

  describe: async q => {
    const g = (await administer(q).describeGroups({ groups: [q.Group] })).get(q.Group)
    const state = g.state.toLowerCase()
    return { State: state[0].toUpperCase() + state.slice(1), Members: g.members.size }
  },

  groups: async q => ({ Groups: [...(await administer(q).listGroups()).keys()] }),

  reset: async q => {
    const partitionOffsets = range(q.Partitions).map(partition => ({ partition, offset: BigInt(q.Offset) }))
    await administer(q).alterConsumerGroupOffsets({ groupId: q.Group, topics: [{ name: q.Topic, partitionOffsets }] })
  },

  'delete-group': async q => { await administer(q).deleteGroups({ groups: [q.Group] }) },

  'delete-topic': async q => { await administer(q).deleteTopics({ topics: [q.Topic] }) },

  transaction: async q => {
    const p = new Producer({ ...options(q), transactionalId: `${q.Topic}-id`, idempotent: true })
    const committed = await p.beginTransaction()
    await committed.send({ messages: messages(q, 'committed') })
    await committed.commit()
    const aborted = await p.beginTransaction()
    await aborted.send({ messages: messages(q, 'aborted') })
    await aborted.abort()
    await p.close()
    return { State: 'records alone: it commits the offsets of messages that its own consumer read, not given ones' }
  }
})

// owned is what the member has of the scenario's topic.
function owned () {
  return (member.consumer.assignments ?? []).filter(a => a.topic === member.topic).flatMap(a => a.partitions)
}
