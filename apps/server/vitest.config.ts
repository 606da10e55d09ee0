import { defineProject } from "vitest/config";

export default defineProject({
  ssr: { resolve: { conditions: ["@shoal/source"] } },
  test: { name: "server", include: ["src/**/*.test.ts"] },
});
