// Parses the files that the arguments name, and writes for each the faults that AsyncAPI's parser finds and what it reads, as a line of JSON.
import { readFileSync } from 'node:fs'
import { Parser } from '@asyncapi/parser'

for (const file of process.argv.slice(2)) {
	const { document, diagnostics } = await new Parser().parse(readFileSync(file, 'utf8'))
	const faults = diagnostics.filter((d) => d.severity === 0).map((d) => `${d.path.join('/')}: ${d.message}`)
	const operations = document?.operations().all().map((o) => `${o.action()} ${o.channels()[0].address()} ${o.messages().all().map((m) => m.payload()?.json('x-parser-schema-id') ?? '').join()}`)
	process.stdout.write(JSON.stringify({ faults, operations: operations ?? [] }) + '\n')
}
