import { defineProject } from "vitest/config";

export default defineProject({
  ssr: { resolve: { conditions: ["@shoal/source"] } },
  // Generous: machines differ, and a wait for a condition has a limit of its own.
  test: { name: "contract", include: ["src/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 },
});
