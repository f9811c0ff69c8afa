// The lines between the runner and a program, as grouplab/server/e2e/clients/agent describes them.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const filling = 'the quick brown fox '.repeat(20)

export const value = (kind, i) => `${kind}-${i} ${filling}`

export function name (text) {
  text = text.toString()
  const space = text.indexOf(' ')
  const name = space < 0 ? text : text.slice(0, space)
  return space >= 0 && text.slice(space + 1) === filling ? name : `${name}: its text is not what was sent`
}

// Missing is what a client does not have.
export class Missing extends Error {}

export const range = n => Array.from({ length: n }, (_, i) => i)

// security is how to connect to brokers that are locked, as the package agent describes it; undefined for others.
export function security () {
  const env = process.env
  if (!env.KAFKA_TLS_CA) return undefined
  const read = file => file ? readFileSync(file, 'utf8') : undefined
  const tls = { ca: [read(env.KAFKA_TLS_CA)], cert: read(env.KAFKA_TLS_CERT), key: read(env.KAFKA_TLS_KEY) }
  return { tls, mechanism: env.KAFKA_SASL_MECHANISM, username: env.KAFKA_SASL_USER, password: env.KAFKA_SASL_PASSWORD }
}

// words is an error with what caused it, in the client's words.
export function words (e) {
  const causes = [...(e.errors ?? []), ...(e.cause ? [e.cause] : [])]
  return [`${e.name}: ${e.message}`, ...causes.map(words)].filter((text, i, all) => all.indexOf(text) === i).join('; ')
}

// serve answers requests with the function of steps that has the step's name, one after the other.
export async function serve (steps) {
  for (const signal of ['uncaughtException', 'unhandledRejection']) {
    process.on(signal, e => console.error(signal, e))
  }
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    let reply
    try {
      reply = await steps[request.Do](request) ?? {}
    } catch (e) {
      console.error(e)
      const causes = (e.errors ?? []).map(c => c.message).join(', ')
      reply = e instanceof Missing ? { Missing: e.message } : { Error: `${e.name}: ${e.message} ${causes}` }
    }
    process.stdout.write(JSON.stringify(reply) + '\n')
  }
  process.exit(0)
}
