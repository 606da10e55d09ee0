import { defineProject } from "vitest/config";

export default defineProject({
  ssr: { resolve: { conditions: ["@shoal/source"] } },
  test: {
    name: "server",
    include: ["src/**/*.test.ts"],
    // Real databases and browsers on a machine that may be doing other things as well.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
