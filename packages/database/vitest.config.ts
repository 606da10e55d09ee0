import { defineProject } from "vitest/config";

export default defineProject({
  ssr: { resolve: { conditions: ["@shoal/source"] } },
  test: { name: "database", include: ["src/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 },
});
