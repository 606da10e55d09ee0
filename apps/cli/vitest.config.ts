import { defineProject } from "vitest/config";

export default defineProject({
  ssr: { resolve: { conditions: ["@shoal/source"] } },
  // Each step starts a program, some of them a database and a browser.
  test: { name: "cli", include: ["src/**/*.test.ts"], testTimeout: 30_000, hookTimeout: 60_000 },
});
