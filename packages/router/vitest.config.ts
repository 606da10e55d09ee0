import { defineProject } from "vitest/config";

export default defineProject({
  ssr: { resolve: { conditions: ["@shoal/source"] } },
  test: { name: "router", testTimeout: 30_000, include: ["src/**/*.test.ts"] },
});
