'use strict';

// restify with its own body parser; no validation.

const restify = require('restify');
const { host, port, updated, world } = require('./user');

const app = restify.createServer();
app.use(restify.plugins.bodyParser({ mapParams: false }));
app.get('/hello', (req, res, next) => { res.send(world); return next(); });
app.post('/updateUser', (req, res, next) => { res.send(updated(req.body)); return next(); });
app.listen(port, host);
