import { defineProject } from "vitest/config";

export default defineProject({
  ssr: { resolve: { conditions: ["@shoal/source"] } },
  test: { name: "contract", include: ["src/**/*.test.ts"] },
});
