'use strict';

// tRPC's standalone server, validated by zod.

const { initTRPC } = require('@trpc/server');
const { createHTTPServer } = require('@trpc/server/adapters/standalone');
const { host, port, updated, world } = require('./user');
const { user } = require('./zod');

const t = initTRPC.create();
const router = t.router({
  hello: t.procedure.query(() => world),
  updateUser: t.procedure.input(user).mutation(({ input }) => updated(input)),
});
createHTTPServer({ router }).listen(port, host);
