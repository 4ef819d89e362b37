'use strict';

// hapi; no validation.

const { host, port, updated, world } = require('./user');

const app = require('@hapi/hapi').server({ host, port });
app.route({ method: 'GET', path: '/hello', handler: () => world });
app.route({ method: 'POST', path: '/updateUser', handler: (req) => updated(req.payload) });
app.start();
