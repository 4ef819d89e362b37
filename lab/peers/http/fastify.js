'use strict';

// fastify with schemas of the input (validated by ajv) and of the output (written by fast-json-stringify).

const { host, port, updated, world } = require('./user');

const name = { type: 'string', minLength: 1, maxLength: 64 };
const user = {
  type: 'object',
  required: ['id', 'name', 'surname', 'lastUpdate'],
  properties: { id: { type: 'integer', minimum: 0 }, name, surname: name, lastUpdate: { type: 'string', format: 'date-time' } },
};
const hello = { type: 'object', properties: { hello: { type: 'string' } } };

const app = require('fastify')({ ajv: { customOptions: { coerceTypes: false } } });
app.get('/hello', { schema: { response: { 200: hello } } }, async () => world);
app.post('/updateUser', { schema: { body: user, response: { 200: user } } }, async (req) => updated(req.body));
app.listen({ host, port });
