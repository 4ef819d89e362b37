'use strict';

// The user's rules in zod.

const { z } = require('zod');

const name = z.string().min(1).max(64);

module.exports = {
  user: z.object({ id: z.number().int().min(0), name, surname: name, lastUpdate: z.iso.datetime({ offset: true }) }),
};
