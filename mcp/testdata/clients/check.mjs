// Runs every scenario of the test against the server at the URL, with the client of one generation, and writes what came as JSON.
const [generation, url] = process.argv.slice(2)

async function connect() {
	if (generation !== '2026') {
		const sdk = generation === '2025' ? '@modelcontextprotocol/sdk' : 'sdk-of-november'
		const { Client } = await import(sdk + '/client/index.js')
		const { StreamableHTTPClientTransport } = await import(sdk + '/client/streamableHttp.js')
		const client = new Client({ name: 'test', version: '1' })
		await client.connect(new StreamableHTTPClientTransport(new URL(url)))
		return client
	}
	const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
	const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
	await client.connect(new StreamableHTTPClientTransport(new URL(url)))
	return client
}

const client = await connect()
const reported = []
client.onerror = (error) => reported.push(error.message)
// The old client takes the type of the result before the options.
const call = (name, args, options) =>
	generation !== '2026' ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options)
const failure = async (promise) => promise.then(() => null, (error) => error.code ?? String(error))

const result = {}
result.tools = (await client.listTools()).tools.map((tool) => tool.name).sort()
result.get = (await call('orders_get', { id: 'o-1' })).structuredContent
result.list = (await call('orders_list', {})).structuredContent
result.echo = (await call('orders_echo', { input: { deep: [true, null] } })).structuredContent
const broken = await call('orders_get', { id: 'o-9' })
result.broken = { isError: broken.isError, text: broken.content[0].text }
result.unknown = await failure(call('orders_none', {}))
const values = []
result.stream = (await call('counter_run', { n: 3 }, { onprogress: (p) => values.push([p.progress, p.message]) })).structuredContent
result.progress = values
result.resources = (await client.listResourceTemplates()).resourceTemplates.map((r) => r.uriTemplate)
result.read = (await client.readResource({ uri: 'orders://o-2' })).contents[0].text
result.missing = await failure(client.readResource({ uri: 'orders://none' }))
result.prompts = (await client.listPrompts()).prompts.map((p) => p.name).sort()
result.prompt = (await client.getPrompt({ name: 'late', arguments: { id: 'o-1' } })).messages[0].content.text
result.completion = (await client.complete({ ref: { type: 'ref/resource', uri: 'orders://{id}' }, argument: { name: 'id', value: 'o-' } })).completion.values
const abort = new AbortController()
const waiting = failure(call('waiting_wait', {}, { signal: abort.signal }))
process.stdout.write('waiting\n') // the test aborts when the handler runs
await new Promise((resolve) => process.stdin.once('data', resolve))
abort.abort()
result.cancelled = (await waiting) !== null
await client.listTools() // what the server has sent before is read then
result.reported = reported
process.stdout.write(JSON.stringify(result) + '\n')
process.stdin.once('data', async () => { // when the handler has ended
	await client.close()
	process.exit(0)
})
