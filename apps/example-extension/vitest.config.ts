import { defineProject } from "vitest/config";

export default defineProject({
  ssr: { resolve: { conditions: ["@shoal/source"] } },
  test: { name: "example-extension", include: ["src/**/*.test.ts"], testTimeout: 30_000 },
});
