'use strict';

// Node's own http module: no router, no validation.

const http = require('node:http');
const { host, port, updated, world } = require('./user');

function answer(res, value) {
  const body = JSON.stringify(value);
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  res.end(body);
}

http.createServer((req, res) => {
  if (req.method === 'GET' && req.url === '/hello') return answer(res, world);
  if (req.method !== 'POST' || req.url !== '/updateUser') {
    res.statusCode = 404;
    return res.end();
  }
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    try {
      answer(res, updated(JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))));
    } catch {
      res.statusCode = 400;
      res.end();
    }
  });
}).listen(port, host);
