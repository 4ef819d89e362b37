'use strict';

// hono on @hono/node-server, validated by zod.

const { Hono } = require('hono');
const { serve } = require('@hono/node-server');
const { zValidator } = require('@hono/zod-validator');
const { host, port, updated, world } = require('./user');
const { user } = require('./zod');

const app = new Hono();
app.get('/hello', (c) => c.json(world));
app.post('/updateUser', zValidator('json', user), (c) => c.json(updated(c.req.valid('json'))));
serve({ fetch: app.fetch, hostname: host, port });
