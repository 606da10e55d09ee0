import { defineProject } from "vitest/config";

export default defineProject({
  ssr: { resolve: { conditions: ["@shoal/source"] } },
  test: { name: "transport", include: ["src/**/*.test.ts"], testTimeout: 20_000 },
});
