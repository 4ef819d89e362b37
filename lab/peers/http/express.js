'use strict';

// express with its own JSON parser; no validation.

const express = require('express');
const { host, port, updated, world } = require('./user');

const app = express();
app.use(express.json());
app.get('/hello', (req, res) => res.json(world));
app.post('/updateUser', (req, res) => res.json(updated(req.body)));
app.listen(port, host);
