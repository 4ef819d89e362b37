// Sends events to the server at the URL by the SDK of CloudEvents, signed by the library of Standard Webhooks, and then reads those that come to
// a server of its own, whose address it writes first. Both results are lines of JSON.
import { CloudEvent, HTTP } from 'cloudevents'
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const [url, secret] = process.argv.slice(2)
const webhook = new Webhook(secret)

const send = async (message, id) => {
	const body = typeof message.body === 'string' ? message.body : message.body == null ? '' : Buffer.isBuffer(message.body) ? message.body : JSON.stringify(message.body)
	const now = new Date()
	const headers = { ...message.headers, 'webhook-id': id, 'webhook-timestamp': String(Math.floor(now / 1000)), 'webhook-signature': webhook.sign(id, now, body) }
	return (await fetch(url, { method: 'POST', headers, body })).status
}
const event = (id, rest) => new CloudEvent({ id, source: '/js', type: 'com.example.orders.placed', time: '2026-01-02T03:04:05.678Z', data: { id, text: 'Grüße, 世界' }, ...rest })

const statuses = []
statuses.push(await send(HTTP.structured(event('s-1', { subject: 'Grüße', myext: 'kept' })), 's-1'))
statuses.push(await send(HTTP.binary(event('b-1', { subject: 's', myext: 'kept' })), 'b-1'))
statuses.push(await send({ headers: { 'content-type': 'application/cloudevents-batch+json' }, body: JSON.stringify([event('l-1'), event('l-2')]) }, 'l'))
statuses.push(await send({ headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'com.example.orders.placed', timestamp: '2026-01-02T03:04:05Z', data: { id: 'plain' } }) }, 'w-1'))
process.stdout.write(JSON.stringify(statuses) + '\n')

const server = createServer((request, response) => {
	const parts = []
	request.on('data', (part) => parts.push(part))
	request.on('end', () => {
		const body = Buffer.concat(parts).toString()
		let line
		try {
			webhook.verify(body, request.headers, { jsonParse: false })
			const events = [HTTP.toEvent({ headers: request.headers, body })].flat()
			line = events.map((e) => ({ id: e.id, source: e.source, type: e.type, subject: e.subject, time: e.time, myext: e.myext, data: e.data }))
		} catch (error) {
			line = String(error)
		}
		process.stdout.write(JSON.stringify(line) + '\n')
		response.writeHead(204).end()
	})
})
server.listen(0, '127.0.0.1', () => process.stdout.write(JSON.stringify(`http://127.0.0.1:${server.address().port}/`) + '\n'))
process.stdin.once('end', () => process.exit(0)).resume()
