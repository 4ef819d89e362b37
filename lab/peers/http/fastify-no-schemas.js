'use strict';

// fastify without schemas: no validation, and JSON.stringify.

const { host, port, updated, world } = require('./user');

const app = require('fastify')();
app.get('/hello', async () => world);
app.post('/updateUser', async (req) => updated(req.body));
app.listen({ host, port });
