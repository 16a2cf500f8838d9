// Tests start real processes, so few run at once: more workers than cores only make each other late.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Extra certificates double the start of every child.
    env: { NODE_EXTRA_CA_CERTS: '' },
  },
});
