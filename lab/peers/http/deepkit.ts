// deepkit's HTTP kernel on Node's http module, validated by its run-time types. deepkit.js is this file as Deepkit's type
// compiler writes it: see README.md in http of the lab.

import { App } from '@deepkit/app';
import { HttpBody, HttpKernel, HttpModule, HttpRouterRegistry } from '@deepkit/http';
import { MaxLength, MinLength, Minimum, Type, integer } from '@deepkit/type';
import { createServer } from 'http';

const { host, port, updated, world } = require('./user');

interface User {
  id: integer & Minimum<0>;
  name: string & MinLength<1> & MaxLength<64>;
  surname: string & MinLength<1> & MaxLength<64>;
  lastUpdate: Date;
}

const app = new App({ imports: [new HttpModule()] });
const router = app.get(HttpRouterRegistry);
router.get('/hello', (): { hello: string } => world);
router.post('/updateUser', (body: HttpBody<User>): User => updated(body));
const kernel = app.get(HttpKernel);
createServer((req, res) => { kernel.handleRequest(req as any, res as any); }).listen(port, host);
